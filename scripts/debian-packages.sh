# Sourced by what installs Debian's packages.

# What packages are to find in their environment when they are set up: NAME=VALUE…  sudo lets nothing of its caller's through.
PACKAGE_ENVIRONMENT=()

# usage: list_missing PACKAGE…   those that are not installed
list_missing() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query --show --showformat '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
}

# A sandbox sees the system's own programs only: a Python in a home folder is not there for it.
has_python() {
  [[ -x /usr/bin/python3 || -x /usr/local/bin/python3 || -x /bin/python3 ]]
}

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

# usage: install_packages PACKAGE…   starts no service of theirs. What cannot be installed is said, and is no failure.
install_packages() {
  [[ $# -eq 0 ]] && return
  if ! command -v apt-get >/dev/null; then
    echo "Not installed, for want of apt-get: $*" >&2
    return
  fi
  if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
    echo "Not installed, for want of root or sudo: $*" >&2
    return
  fi
  echo "Installing $*" >&2
  as_root apt-get update -qq || true
  # In a shell of its own: with its end, however it comes, the policy goes.
  (
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
      trap 'as_root rm -f "$policy"' EXIT
      printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
      as_root chmod 755 "$policy"
    fi
    # No test uses the cluster that PostgreSQL's packages would make.
    settings=/etc/postgresql-common/createcluster.conf
    if [[ " $* " == *' postgresql '* && ! -e $settings ]]; then
      as_root mkdir -p "${settings%/*}"
      echo 'create_main_cluster = false' | as_root tee "$settings" >/dev/null
    fi
    install() {
      as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 "${PACKAGE_ENVIRONMENT[@]}" \
        apt-get install -y -qq --no-install-recommends -o Dpkg::Options::=--force-confold "$@" >/dev/null
    }
    # At once, for its speed; one by one where that fails: a package that this release lacks must not keep the others away.
    if ! install "$@"; then
      for package in "$@"; do
        install "$package" || echo "Could not install $package" >&2
      done
    fi
  )
}
