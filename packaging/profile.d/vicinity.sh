# Login shells see the proxy that Vicinity's rules ask for, as user managers do: from root's own directory, and without
# starting a program. An empty value takes an inherited variable away. Shells that run already see nothing of it.
if [ -s /run/environment.d/90-vicinity.conf ] && [ ! -L /run/environment.d/90-vicinity.conf ]; then
    while IFS='=' read -r vicinity_name vicinity_value || [ -n "${vicinity_name}" ]; do
        case ${vicinity_name} in
            http_proxy | https_proxy | ftp_proxy | all_proxy | no_proxy | \
                HTTP_PROXY | HTTPS_PROXY | FTP_PROXY | ALL_PROXY | NO_PROXY)
                if [ -n "${vicinity_value}" ]; then
                    export "${vicinity_name}=${vicinity_value}"
                else
                    unset "${vicinity_name}"
                fi
                ;;
        esac
    done < /run/environment.d/90-vicinity.conf
    unset vicinity_name vicinity_value
fi
