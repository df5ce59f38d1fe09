#!/bin/sh
# Build deploy/Containerfile without an image registry, run the collector in it, and check that it
# is ready. From the top of the repository, as root:
#   deploy/try_container.sh plan.json
# Needs podman and mmdebstrap. The base is made of Debian packages from the mirror that apt uses
# here; KRAND_BASE_TAR names an existing one. Wheels are fetched by this machine's pip, so
# that its configuration does not get into the image; PYTHON must be of the base's version.
# Where podman cannot start containers (no cgroups, no new limits), the image's files are used in a
# chroot instead, read-only and as the image's user, and the last line says so.
set -eu

plan=$(realpath "${1:?usage: deploy/try_container.sh plan.json}")
port=${PORT:-18080}
suite=${SUITE:-bookworm}
python=${PYTHON:-python3}
for tool in podman ${KRAND_BASE_TAR:-mmdebstrap} unshare setpriv; do
    case $tool in /*) test -f "$tool" ;; *) command -v "$tool" >/dev/null ;; esac ||
        { echo "skipped: missing component $tool"; exit 0; }
done

work=$(mktemp -d)
server=
pod() { podman --root "$work/root" --runroot "$work/run" --storage-driver vfs "$@"; }
clean() {
    test -z "$server" || kill "$server" 2>/dev/null || true
    pod rm --force --all >/dev/null 2>&1 || true
    pod unmount --all >/dev/null 2>&1 || true
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM

base=${KRAND_BASE_TAR:-$work/base.tar}
test -f "$base" || mmdebstrap --quiet --variant=minbase --include=python3,python3-venv "$suite" "$base"
pod import --quiet "$base" localhost/krand-base >/dev/null

mkdir "$work/wheels" "$work/spool"
chown 10001:10001 "$work/spool"
"$python" -m pip wheel --quiet --wheel-dir "$work/wheels" '.[serve]' hatchling
rm "$work"/wheels/krand-*.whl
printf '[global]\nno-index = true\nfind-links = /wheels\n' >"$work/pip.conf"
pod build --isolation=chroot --network=host --layers=false --format docker \
    --build-arg BASE=localhost/krand-base \
    --volume "$work/wheels:/wheels:ro" --volume "$work/pip.conf:/etc/pip.conf:ro" \
    --file deploy/Containerfile --tag krand-collector .

ready() {
    "$python" - "$port" <<'PYTHON'
import socket, sys, time
for _ in range(60):
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1])), 4).close()
        sys.exit()
    except OSError:
        time.sleep(1)
sys.exit("the collector does not answer")
PYTHON
}
set -- serve --plan /etc/krand/plan.json --spool /var/lib/krand/spool --host 127.0.0.1 --port "$port"

if pod --cgroup-manager cgroupfs run --detach --name krand-try --cgroups=disabled --network=host \
    --no-healthcheck --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \
    --read-only --cap-drop=all --security-opt=no-new-privileges \
    --volume "$plan:/etc/krand/plan.json:ro" --volume "$work/spool:/var/lib/krand" \
    krand-collector "$@"
then
    ready
    pod stop krand-try >/dev/null
    how="in a container"
else
    pod rm --force krand-try >/dev/null 2>&1 || true
    made=$(pod create --name krand-try krand-collector)
    unshare --mount sh -eu -c '
        root=$1 plan=$2 spool=$3
        shift 3
        mount --bind "$root" "$root"
        mkdir -p "$root/etc/krand"
        touch "$root/etc/krand/plan.json"
        mount --bind "$plan" "$root/etc/krand/plan.json"
        mount --bind "$spool" "$root/var/lib/krand"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -o remount,bind,ro "$root"
        exec chroot "$root" /usr/bin/env -i PATH=/opt/krand/bin:/usr/bin:/bin \
            PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 \
            setpriv --reuid=10001 --regid=10001 --clear-groups --bounding-set=-all --no-new-privs \
            krand "$@"
    ' sh "$(pod mount "$made")" "$plan" "$work/spool" "$@" &
    server=$!
    ready
    kill "$server"
    wait "$server" || true
    server=
    how="in a chroot of the image (podman cannot start containers here)"
fi
find "$work/spool/spool/rounds" -name spool.sqlite -size +0 | grep -q .
echo "built; the collector answered $how"
