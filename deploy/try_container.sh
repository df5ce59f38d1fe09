#!/bin/sh
# Build deploy/Containerfile without an image registry, run a survey in it, and check that it is
# published. From the top of the repository, as root:
#   deploy/try_container.sh survey.toml
# Needs podman and mmdebstrap. The base is made of Debian packages from the mirror that apt uses
# here; KRAND_BASE_TAR names an existing one. Wheels are fetched by this machine's pip, so
# that its configuration does not get into the image; PYTHON must be of the base's version.
# Where podman cannot start containers (no cgroups, no new limits), the image's files are used in a
# chroot instead, read-only and as the image's user, and the last line says so.
set -eu

survey=$(realpath "${1:?usage: deploy/try_container.sh survey.toml}")
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

mkdir "$work/wheels" "$work/krand"
cp "$survey" "$work/krand/survey.toml"
cat >"$work/krand/site.toml" <<SITE
name = "Container"
address = "https://survey.example.org"
listen = "127.0.0.1:$port"
behind_proxy = true
surveys = ["survey.toml"]
SITE
chown -R 10001:10001 "$work/krand"
"$python" -m pip wheel --quiet --wheel-dir "$work/wheels" '.[serve]' hatchling
rm "$work"/wheels/krand-*.whl
printf '[global]\nno-index = true\nfind-links = /wheels\n' >"$work/pip.conf"
pod build --isolation=chroot --network=host --layers=false --format docker \
    --build-arg BASE=localhost/krand-base \
    --volume "$work/wheels:/wheels:ro" --volume "$work/pip.conf:/etc/pip.conf:ro" \
    --file deploy/Containerfile --tag krand .

ready() {
    "$python" - "$port" <<'PYTHON'
import json, sys, time, urllib.request
for _ in range(60):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/v1/plans", timeout=4) as answer:
            if json.load(answer)["plans"]:
                sys.exit()
    except OSError:
        pass
    time.sleep(1)
sys.exit("nothing is published")
PYTHON
}
set -- run /var/lib/krand/site.toml --yes --no-console

if pod --cgroup-manager cgroupfs run --detach --name krand-try --cgroups=disabled --network=host \
    --no-healthcheck --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \
    --read-only --cap-drop=all --security-opt=no-new-privileges \
    --volume "$work/krand:/var/lib/krand" \
    krand "$@"
then
    ready
    pod stop krand-try >/dev/null
    how="in a container"
else
    pod rm --force krand-try >/dev/null 2>&1 || true
    made=$(pod create --name krand-try krand)
    unshare --mount sh -eu -c '
        root=$1 folder=$2
        shift 2
        mount --bind "$root" "$root"
        mount --bind "$folder" "$root/var/lib/krand"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -o remount,bind,ro "$root"
        exec chroot "$root" /usr/bin/env -i PATH=/opt/krand/bin:/usr/bin:/bin \
            PYTHONDONTWRITEBYTECODE=1 OPENBLAS_NUM_THREADS=1 \
            setpriv --reuid=10001 --regid=10001 --clear-groups --bounding-set=-all --no-new-privs \
            krand "$@"
    ' sh "$(pod mount "$made")" "$work/krand" "$@" &
    server=$!
    ready
    kill "$server"
    wait "$server" || true
    server=
    how="in a chroot of the image (podman cannot start containers here)"
fi
find "$work/krand/krand/rounds" -name spool.sqlite -size +0 | grep -q .
echo "built; a survey was published $how"
