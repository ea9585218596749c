#!/bin/bash
# A Docker daemon, and the base images that docker/Dockerfile and docker-compose.yml name, on a machine that can pull no image: all of it comes
# from Debian's packages. Needs root and a Debian host; says in one line why it cannot (exit code 3). A second run takes what is there.
#
#   containers.sh up             tools, daemon, images; prints how to call docker
#   containers.sh docker ARGS    docker, in the folder of the same name below $PLACE/tools (containers.sh folder NAME makes and prints it)
#   containers.sh down           stops the daemon that `up` started; images and volumes stay
#
# Everything lies in $PLACE (CONTAINERS=/folder, some 4 GB). The images are stand-ins: same names, same variables, same users, other builds.
set -euo pipefail
PLACE=${CONTAINERS:-/var/tmp/tute-containers}
TOOLS=$PLACE/tools
export DEBIAN_FRONTEND=noninteractive

say() { printf '[%4d s] %s\n' "$SECONDS" "$*" >&2; }
cannot() { echo "no containers here: $*" >&2; exit 3; }
docker_() { chroot "$TOOLS" docker "$@"; }

may() {
    [ "$(id -u)" = 0 ] || cannot "only root may start a Docker daemon"
    [ -e /etc/debian_version ] || cannot "the tools and the base images come from Debian's packages, and this is no Debian"
    unshare --mount true 2> /dev/null || cannot "this machine allows no mount namespace"
    mkdir -p "$PLACE/log"
    exec 9> "$PLACE/lock"
    flock --nonblock 9 || { say "waits for another run"; flock 9; }
    for tool in mmdebstrap; do
        command -v $tool > /dev/null && continue
        { apt-get update && apt-get install --yes --no-install-recommends $tool; } > "$PLACE/log/apt.log" 2>&1 ||
            cannot "$tool could not be installed: $(tail -1 "$PLACE/log/apt.log")"
    done
}

# Where apt of this machine gets its packages
mirror() { apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' | sort -u | grep '/debian/$' | head -n 1; }

boot() { # suite, folder, packages, more options: a Debian of the least packages and these, all or nothing
    local suite=$1 folder=$2 packages=$3
    shift 3
    [ -e "$folder" ] && return
    say "Debian $suite with ${packages//,/ }"
    local from; from=$(mirror)
    [ -n "$from" ] || cannot "apt knows no mirror of Debian"
    # The rest of a run that was cut off; never across a mount, of which mmdebstrap makes some there
    rm -rf --one-file-system "$folder.new"
    nice mmdebstrap --mode=root --variant=minbase --include="$packages" "$@" "$suite" "$folder.new" \
        "deb $from $suite main" "deb $from $suite-updates main" > "$PLACE/log/$(basename "$folder").log" 2>&1 ||
        cannot "Debian's packages could not be installed: $(grep '^E:' "$PLACE/log/$(basename "$folder").log" | tail -1)"
    rm -rf "$folder.new"/var/lib/apt/lists/* "$folder.new"/var/cache/apt/*
    # what this machine trusts: a mirror may have a certificate of its own
    mkdir -p "$folder.new/etc/ssl/certs"
    cp /etc/ssl/certs/ca-certificates.crt "$folder.new/etc/ssl/certs/ca-certificates.crt"
    mv "$folder.new" "$folder"
}

daemon() {
    boot trixie "$TOOLS" docker.io,docker-cli,docker-compose,docker-buildx,iptables,ca-certificates,git,procps,apparmor
    docker_ version > /dev/null 2>&1 && return
    pgrep -x dockerd > /dev/null && cannot "another Docker daemon runs, whose networks would be disturbed"
    say "starts the daemon"
    mountpoint -q "$TOOLS" || { mount --bind "$TOOLS" "$TOOLS"; mount --make-private "$TOOLS"; } # the daemon's / has to be a mount
    mountpoint -q "$TOOLS/proc" || mount -t proc proc "$TOOLS/proc"
    for folder in sys dev; do
        mountpoint -q "$TOOLS/$folder" || { mount --rbind "/$folder" "$TOOLS/$folder"; mount --make-rslave "$TOOLS/$folder"; }
    done
    mountpoint -q "$TOOLS/run" || mount -t tmpfs tmpfs "$TOOLS/run"
    cp -L /etc/resolv.conf "$TOOLS/etc/resolv.conf"
    # pivot_root and not chroot: below a chroot the kernel refuses user namespaces, hence the sandbox tier `namespaces`, in every container
    setsid nohup unshare --mount --propagation private \
        sh -c "cd $TOOLS && pivot_root . mnt && exec chroot . sh -c 'umount -l /mnt; exec dockerd --log-level=warn'" \
        > "$PLACE/log/dockerd.log" 2>&1 < /dev/null 9>&- &
    echo $! > "$PLACE/dockerd.pid"
    for _ in $(seq 120); do
        docker_ version > /dev/null 2>&1 && return
        kill -0 "$(cat "$PLACE/dockerd.pid")" 2> /dev/null || break
        sleep 1
    done
    cannot "the daemon does not start: $(tail -1 "$PLACE/log/dockerd.log")"
}

down() {
    [ -e "$PLACE/dockerd.pid" ] || return 0
    kill "$(cat "$PLACE/dockerd.pid")" 2> /dev/null || true
    for _ in $(seq 60); do kill -0 "$(cat "$PLACE/dockerd.pid")" 2> /dev/null || break; sleep 1; done
    rm -f "$PLACE/dockerd.pid"
    for folder in /run /dev /sys /proc ""; do ! mountpoint -q "$TOOLS$folder" || umount --recursive --lazy "$TOOLS$folder"; done
}

image() { # name, folder, changes to it: made once
    local name=$1 folder=$2 words=()
    shift 2
    docker_ image inspect "$name" > /dev/null 2>&1 && return
    say "image $name"
    for change in "$@"; do words+=(--change "$change"); done
    tar -C "$folder" --numeric-owner --exclude='./proc/*' --exclude='./sys/*' --exclude='./dev/*' -c . | docker_ import "${words[@]}" - "$name" > /dev/null
}

PATHS=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

python() { # trixie's own 3.13, where the official image has one in /usr/local
    local root=$PLACE/python
    boot trixie "$root" ca-certificates,netbase,tzdata,python3,python3-venv,libpython3-dev
    ln -sf /usr/bin/python3 "$root/usr/local/bin/python"
    find "$root/usr/lib" -name 'libpython3*.a' -delete
    rm -rf "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/locale/*
    printf '[global]\ncert = /etc/ssl/certs/ca-certificates.crt\ndefault-timeout = 180\n' > "$root/etc/pip.conf"
    image python:3.13-slim-bookworm "$root" "ENV PATH=$PATHS" "ENV LANG=C.UTF-8" 'CMD ["python3"]'
}

redis() {
    boot bookworm "$PLACE/redis" redis-server,redis-tools \
        --essential-hook='echo redis:x:999: >> "$1/etc/group"; echo redis:x:999:999::/data:/usr/sbin/nologin >> "$1/etc/passwd"'
    mkdir -p "$PLACE/redis/data"
    chown 999:999 "$PLACE/redis/data"
    image redis:7-bookworm "$PLACE/redis" "ENV PATH=$PATHS" "VOLUME /data" "WORKDIR /data" "EXPOSE 6379" 'CMD ["redis-server"]'
}

postgres() {
    local root=$PLACE/postgres
    boot trixie "$root" postgresql-17,ca-certificates,locales,gosu \
        --essential-hook='echo postgres:x:999: >> "$1/etc/group"; echo postgres:x:999:999::/var/lib/postgresql:/bin/bash >> "$1/etc/passwd"'
    rm -rf "$root"/var/lib/postgresql/* "$root"/etc/postgresql/*
    mkdir -p "$root/docker-entrypoint-initdb.d" "$root/var/lib/postgresql/data" "$root/run/postgresql"
    chroot "$root" chown -R postgres:postgres /var/lib/postgresql /run/postgresql
    sed -i "s/^#listen_addresses = .*/listen_addresses = '*'/" "$root/usr/share/postgresql/17/postgresql.conf.sample"
    cat > "$root/usr/local/bin/docker-entrypoint.sh" <<'EOS'
#!/bin/bash
# The official image's entrypoint in short: same variables, same order.
set -Eeo pipefail
if [ "${1:0:1}" = - ]; then set -- postgres "$@"; fi
if [ "$1" = postgres ]; then
    if [ "$(id -u)" = 0 ]; then
        mkdir -p "$PGDATA" /var/run/postgresql
        chmod 00700 "$PGDATA"
        find "$PGDATA" \! -user postgres -exec chown postgres '{}' +
        find /var/run/postgresql \! -user postgres -exec chown postgres '{}' +
        chmod 03775 /var/run/postgresql
        exec gosu postgres "$BASH_SOURCE" "$@"
    fi
    if [ ! -s "$PGDATA/PG_VERSION" ]; then
        password=$(< "$POSTGRES_PASSWORD_FILE")
        eval 'initdb --username="$POSTGRES_USER" --pwfile=<(printf "%s\n" "$password") '"$POSTGRES_INITDB_ARGS"
        printf '\nhost all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
        pg_ctl -D "$PGDATA" -o "-c listen_addresses='' -p 5432" -w start
        psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d postgres --set db="${POSTGRES_DB:-$POSTGRES_USER}" <<< 'CREATE DATABASE :"db" ;'
        pg_ctl -D "$PGDATA" -m fast -w stop
    fi
fi
exec "$@"
EOS
    chmod 755 "$root/usr/local/bin/docker-entrypoint.sh"
    image postgres:17-bookworm "$root" "ENV PATH=$PATHS:/usr/lib/postgresql/17/bin" "ENV PGDATA=/var/lib/postgresql/data" "ENV LANG=C.UTF-8" \
        "VOLUME /var/lib/postgresql/data" 'ENTRYPOINT ["docker-entrypoint.sh"]' "STOPSIGNAL SIGINT" "EXPOSE 5432" 'CMD ["postgres"]'
}

proxy() { # of which docker/proxy/nginx.conf is the configuration
    boot bookworm "$PLACE/nginx" nginx-light
    image nginx:bookworm "$PLACE/nginx" "ENV PATH=$PATHS" 'CMD ["nginx", "-g", "daemon off;"]'
}

case ${1:-} in
    up) may; daemon; redis; postgres; python; proxy; say "a daemon runs; docker is: $0 docker" ;;
    docker)
        shift
        exec chroot "$TOOLS" sh -c 'cd "/srv/$1" && shift && exec docker "$@"' sh "${FOLDER:-}" "$@"
        ;;
    folder) mkdir -p "$TOOLS/srv/$2"; echo "$TOOLS/srv/$2" ;;
    down) down ;;
    *) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
