# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# What ./bobbin and ./test share: the packages, and how people are told. Sourced; the caller sets
#   root       the checkout
#   setup_log  where the output of every step goes
# Nothing here writes to stdout.

say() { printf 'bobbin: %s\n' "$*" >&2; }

# Three lines: what, why, what to type.
complain() { printf 'bobbin: %s\n%s\nrun:  %s\n' "$1" "$2" "$3" >&2; }

# The names in the sections asked for.
list_packages() {
    local section
    for section in "$@"; do
        awk -v want="[$section]" '/^\[/ { on = ($1 == want); next } on && NF && !/^#/ { print $1 }' \
            "$root/packaging/packages.txt"
    done
}

list_missing_packages() {
    comm -23 <(list_packages "$@" | sort -u) \
        <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p' | sort -u)
}

apt_install() {
    # Two at a time are not left to apt's own locks: `apt-get update` does not wait for them.
    DEBIAN_FRONTEND=noninteractive flock "$root/build/packages.lock" apt-get "$@" \
        -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 </dev/null >>"$setup_log" 2>&1
}

# install_packages COMMAND SECTION...: COMMAND is what to type when root is needed.
install_packages() {
    local command=$1 missing
    shift
    if ! command -v apt-get >/dev/null; then
        complain "cannot set up: this is not a Debian system" \
            "the packages to install by hand are in packaging/packages.txt" \
            "cmake --preset release && cmake --build --preset release"
        return 1
    fi
    mapfile -t missing < <(list_missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    if [ "$EUID" -ne 0 ]; then
        complain "cannot set up: Debian packages are missing: ${missing[*]}" \
            "only root can install them" "$command"
        return 77
    fi
    say "installing ${#missing[@]} Debian packages"
    # The package lists may be absent (fresh images have none) or older than the mirror.
    apt_install install -y --no-install-recommends "${missing[@]}" ||
        { apt_install update && apt_install install -y --no-install-recommends "${missing[@]}"; } ||
        {
            complain "cannot install packages: apt-get failed, full log in $setup_log" \
                "$(grep '^E: ' "$setup_log" | tail -n 1)" \
                "${SUDO_UID:+sudo }apt-get update && $command"
            return 1
        }
}

# Into the present directory.
download_package() {
    local options=(-o APT::Sandbox::User=)
    apt_install "${options[@]}" download "$1" ||
        { apt_install update && apt_install "${options[@]}" download "$1"; }
}

# What the packages of section [unpacked] install, below build/packages/NAME instead.
unpack_packages() {
    local package directory scratch
    for package in $(list_packages unpacked); do
        directory=$root/build/packages/$package
        [ ! -d "$directory" ] || continue
        say "unpacking the Debian package $package"
        mkdir -p "$root/build/packages" && scratch=$(mktemp -d "$directory.XXXXXX") &&
            (cd "$scratch" && download_package "$package") &&
            dpkg-deb -x "$scratch"/*.deb "$scratch/tree" && mv "$scratch/tree" "$directory" &&
            rm -r "$scratch" && continue
        rm -rf "$scratch"
        complain "cannot unpack $package: apt-get failed, full log in $setup_log" \
            "$(grep '^E: ' "$setup_log" | tail -n 1)" "apt-get update"
        return 1
    done
}

# The largest sources take the compiler a good gigabyte.
count_jobs() {
    local by_memory cpus
    by_memory=$(awk '/^MemAvailable:/ { print int($2 / 1500000) }' /proc/meminfo)
    cpus=$(nproc)
    [ "$by_memory" -ge 1 ] || by_memory=1
    echo $((cpus < by_memory ? cpus : by_memory))
}

# configure PRESET [OPTION...]
configure() {
    local preset=$1 cache=$root/build/$1/CMakeCache.txt fresh=()
    shift
    # A tree that was moved or copied knows its sources by their old path.
    if [ -e "$cache" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
        fresh=(--fresh)
    fi
    (cd "$root" && cmake "${fresh[@]}" --preset "$preset" "$@") </dev/null >>"$setup_log" 2>&1
}

# Under sudo: what was built belongs to the user, who may then build and clean up without root.
hand_over_build() {
    if [ "$EUID" -eq 0 ] && [ -n "${SUDO_UID:-}" ]; then
        chown -hR "$SUDO_UID:${SUDO_GID:-$SUDO_UID}" "$root/build"
    fi
}
