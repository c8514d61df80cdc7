import subprocess,time,os
def sh(c):
    t=time.monotonic(); r=subprocess.run(c,shell=True,capture_output=True,text=True); print(f"[{time.monotonic()-t:.2f}] {c}\n{r.stdout[-1500:]}{r.stderr[-1500:]}",flush=True)
sh("ls -l /dev/virtio-ports /dev/vport*; mount | grep -v cgroup | tail -12; cat /proc/uptime; id nobody")
sh("/run/lab/busybox --list | tr '\\n' ' '")
sh("ln -s regulatory.db-debian /lib/firmware/regulatory.db; ln -s regulatory.db.p7s-debian /lib/firmware/regulatory.db.p7s; ls -l /lib/firmware")
sh("modprobe -a ccm ctr cmac gcm ghash-generic aes_generic michael_mic nlmon dummy")
sh("modprobe mac80211_hwsim radios=6")
sh("iw dev | grep -c Interface; ip -o link")
sh("modprobe -r mac80211_hwsim")
sh("modprobe mac80211_hwsim radios=6")
sh("ip netns add air; iw phy phy6 set netns name air; ip netns exec air iw dev; ls /sys/class/net")
sh("ip link set wlan1 up; iw dev wlan1 scan | head; iw dev wlan1 scan freq 2412 2437")
sh("dmesg | tail -20")
