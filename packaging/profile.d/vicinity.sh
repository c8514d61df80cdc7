# Login shells see the proxy that Vicinity's rules ask for, as user managers do. Read by sh, whatever its options. No line
# of the file is run; where there is no file no program is started. Shells that run already see nothing of it.
vicinity_proxy() {
    [ -s "$1" ] || return 0
    # It has to be root's, and writable for nobody else.
    [ -n "$(find "$1" -prune -type f -user 0 ! -perm -020 ! -perm -002 2>/dev/null)" ] || return 0
    while IFS= read -r vicinity_line || [ -n "$vicinity_line" ]; do
        case $vicinity_line in
            http_proxy=* | https_proxy=* | ftp_proxy=* | all_proxy=* | no_proxy=* | \
                HTTP_PROXY=* | HTTPS_PROXY=* | FTP_PROXY=* | ALL_PROXY=* | NO_PROXY=*)
                case ${vicinity_line#*=} in
                    # Nothing, or a variable that nobody sets: what was inherited goes.
                    '' | *[!]A-Za-z0-9.:/,_~*[-]*) unset "${vicinity_line%%=*}" ;;
                    *) export "$vicinity_line" ;;
                esac
                ;;
        esac
    done < "$1"
    unset vicinity_line
}
vicinity_proxy /run/environment.d/90-vicinity.conf
unset -f vicinity_proxy
