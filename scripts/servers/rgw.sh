#!/usr/bin/env bash
# An S3 server for tests and experiments: a Ceph cluster of one monitor, one disk and one gateway, all in one folder. Any user
# can start one, and several can run at the same time, with different folders and ports.
#
#   rgw.sh start <folder> <port>    creates the cluster if necessary, starts all processes that are not running, waits until S3 responds
#   rgw.sh stop <folder>            stops all its processes
#
# S3 is then at http://127.0.0.1:<port>, path style, any region, with the key "testkey" and the secret "testsecret".
# Objects are stored in memory, as long as the disk's process lives: a restart of only the gateway (gateway.pid) loses
# nothing. With STORE=bluestore at the first start, they are stored in the folder and survive a stop.
#
# Debian: apt-get install --no-install-recommends radosgw ceph-mon ceph-osd ceph-common
set -euo pipefail

usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
  exit 2
}

start() {
  mkdir -p "$folder"/{monitor,disk,log}
  [ -f "$conf" ] || write_conf > "$conf"

  # Each "made" file marks a completed step, so that an interrupted start can continue.
  if [ ! -f "$folder/monitor.made" ]; then
    monmaptool --create --clobber --fsid "$(setting fsid)" --addv a "[$(setting mon_host)]" "$folder/monmap" > /dev/null
    ceph-mon --mkfs -i a --monmap "$folder/monmap" -c "$conf"
    touch "$folder/monitor.made"
  fi
  running monitor || launch monitor ceph-mon -i a

  if [ ! -f "$folder/disk.made" ]; then
    ceph -c "$conf" --connect-timeout 20 osd new "$(setting osd_uuid)" 0 > /dev/null
    ceph-osd --mkfs -i 0 --osd-uuid "$(setting osd_uuid)" -c "$conf" 2> "$folder/log/disk-mkfs.out"
    touch "$folder/disk.made"
  fi
  running disk || launch disk ceph-osd -i 0

  if [ ! -f "$folder/user.made" ]; then
    radosgw-admin -c "$conf" user create --uid=test --display-name=test --max-buckets=0 \
      --access-key=testkey --secret-key=testsecret --rgw-zone=default > "$folder/log/user.out" 2>&1
    touch "$folder/user.made"
  fi
  running gateway || launch gateway radosgw -n client.rgw --rgw-frontends "beast endpoint=127.0.0.1:$port tcp_nodelay=1"

  for _ in $(seq 300); do
    if answers 2> /dev/null; then return; fi
    if ! running gateway; then
      cat "$folder/log/gateway.out" >&2
      exit 1
    fi
    sleep 0.1
  done
  echo "the gateway has not come up within 30 s: see $folder/log" >&2
  exit 1
}

# Checks that an HTTP server responds: another program may have taken the port.
answers() (
  exec 3<> "/dev/tcp/127.0.0.1/$port"
  printf 'GET / HTTP/1.0\r\n\r\n' >&3
  read -r -n 5 -t 5 start <&3
  [ "$start" = HTTP/ ]
)

stop() {
  for name in gateway disk monitor; do
    running $name || continue
    pid=$(cat "$folder/$name.pid")
    # A stopped (frozen) process handles the signal only after SIGCONT.
    kill "$pid" && kill -CONT "$pid"
    for _ in $(seq 50); do
      running $name || continue 2
      sleep 0.1
    done
    kill -KILL "$pid"
  done
}

# launch <name> <program> <arguments>: starts it in the background and writes its PID to <name>.pid
launch() {
  local name=$1
  shift
  "$@" -f -c "$conf" > "$folder/log/$name.out" 2>&1 < /dev/null &
  echo $! > "$folder/$name.pid"
}

# Whether <name>.pid is the PID of a process of this folder: after a crash, another program may have this PID.
running() {
  local pid
  pid=$(cat "$folder/$1.pid" 2> /dev/null) &&
    tr '\0' '\n' < "/proc/$pid/cmdline" 2> /dev/null | grep -qxF "$conf" &&
    ! grep -q '^State:\sZ' "/proc/$pid/status"
}

setting() {
  sed -n "s/^$1 = //p" "$conf"
}

free_port() {
  node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(String(s.address().port)); s.close() })'
}

# No authentication between the three, one copy of all objects, small placement groups. Warnings that would block the cluster
# on a nearly full disk are off.
write_conf() {
  cat << CONF
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
osd_uuid = $(cat /proc/sys/kernel/random/uuid)
mon_host = v2:127.0.0.1:$(free_port)
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
public_network = 127.0.0.0/8
cluster_network = 127.0.0.0/8
ms_bind_ipv6 = false
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
ms_mon_client_mode = crc
ms_mon_service_mode = crc
ms_mon_cluster_mode = crc
# The path of a socket has at most 107 bytes, and folders of tests are deep.
admin_socket =
run_dir = $folder
crash_dir = $folder/log
keyring = $folder/keyring
log_file = $folder/log/\$name.log
log_to_stderr = false
err_to_stderr = true
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
mon_max_pg_per_osd = 1000
# The first start takes many small steps, each of which is a vote. The default interval would add up.
paxos_propose_interval = 0.05
paxos_min_wait = 0.01
mon_tick_interval = 1
mon_client_hunt_interval = 0.3
mon_client_hunt_interval_backoff = 1
# Less CPU time: no log in memory for a crash, no checksums of messages on the loopback interface.
debug_ms = 0/0
debug_rgw = 0/0
debug_rgw_sync = 0/0
debug_objecter = 0/0
debug_objclass = 0/0
debug_osd = 0/0
debug_filestore = 0/0
debug_monc = 0/0
debug_mon = 0/0
debug_paxos = 0/0
debug_auth = 0/0
ms_crc_data = false
ms_crc_header = false
[mon]
mon_data = $folder/monitor
mon_data_avail_crit = 1
mon_data_avail_warn = 2
[osd]
osd_data = $folder/disk
osd_objectstore = ${STORE:-memstore}
memstore_device_bytes = 17179869184
bluestore_block_size = 8589934592
osd_memory_target = 939524096
osd_class_load_list = *
osd_class_default_list = *
osd_op_num_shards = 1
osd_op_num_threads_per_shard = 2
[client.rgw]
rgw_enable_apis = s3
rgw_dns_name = localhost
rgw_thread_pool_size = 32
rgw_enable_usage_log = false
rgw_run_sync_thread = false
# With the 11 shards of the default, each list of a bucket is 11 requests to the disk.
rgw_override_bucket_index_max_shards = 1
rgw_dynamic_resharding = false
rgw_enable_lc_threads = false
rgw_enable_quota_threads = false
[client.admin]
log_file = /dev/null
CONF
  : > "$folder/keyring"
}

[ $# -ge 2 ] || usage
mkdir -p "$2"
folder=$(cd "$2" && pwd)
conf=$folder/ceph.conf
case $1 in
  start)
    port=${3:?"a port is missing"}
    start
    ;;
  stop) stop ;;
  *) usage ;;
esac
