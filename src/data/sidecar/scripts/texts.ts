/**
 * The scripts that wait for a mount, and what the ConfigMaps are called that carry them. Where they run is the image of a client
 * or of a user, so they need no more than a POSIX shell. What they are told are arguments, never parts of a command. Pure.
 */
import { createHash } from 'node:crypto'

/** One of each namespace. */
export const APP_SCRIPT = Object.freeze({
  configMap: 'check-fluid-mount-ready',
  key: 'check-fluid-mount-ready.sh',
  path: '/check-fluid-mount-ready.sh',
})
export const MOUNT_SCRIPT = Object.freeze({ key: 'check-mount.sh', path: '/check-mount.sh' })
export const SCRIPT_HASH = 'fluid.io/check-mount-script-sha256'

const LONGEST_HASH = 63
const LONGEST_NAME = 253
const SUFFIX = '-check-mount'

/** `<dataset>-<mount type>-check-mount`. What is no part of a name in the type is a dash. */
export function mountScriptName(dataset: string, mountType: string): string {
  const name = `${dataset}-${mountType.toLowerCase().replace(/[^a-z0-9.-]/g, '-')}`
  // Between two dots, and beside each, there is a letter or a digit.
  const clean = name.replace(/[.-]*\.[.-]+|[.-]+\.[.-]*/g, '-').slice(0, LONGEST_NAME - SUFFIX.length)
  return `${clean.replace(/[.-]+$/, '')}${SUFFIX}`
}

/** Field 5 of a line of mountinfo is where it is mounted, and what comes after ` - ` begins with its type. */
const IS_MOUNTED = `is_mounted() {
  while read -r _ _ _ _ point rest; do
    [ "$point" = "$1" ] || continue
    kind=\${rest#* - }
    kind=\${kind%% *}
    case "$2" in
      ''|"$kind") return 0 ;;
    esac
    case "$kind" in
      fuse|fuse.*) return 0 ;;
    esac
  done < "\${MOUNTINFO:-/proc/self/mountinfo}"
  return 1
}`

/** In the client: waits for its mount, and then for the sub path in it. 1: not mounted, 2: no such sub path. */
export const MOUNT_SCRIPT_TEXT = `#!/bin/sh
# check-mount.sh PATH TYPE [SUBPATH]: waits until PATH is mounted, and SUBPATH is in it.
path=$1 type=$2 sub=$3
tries=\${TRIES:-30} pause=\${PAUSE:-1}

${IS_MOUNTED}

i=0
until is_mounted "$path" "$type"; do
  i=$((i + 1))
  if [ "$i" -ge "$tries" ]; then
    echo "$path is not mounted after $tries attempts: see the log of this container" >&2
    exit 1
  fi
  sleep "$pause"
done
[ -n "$sub" ] || exit 0
i=0
until [ -e "$path/$sub" ]; do
  i=$((i + 1))
  if [ "$i" -ge "$tries" ]; then
    echo "$path is mounted and has no $sub: correct the sub path of the dataset's mount" >&2
    exit 2
  fi
  sleep "$pause"
done
`

/** In a container of the pod: waits for each path, in order. */
export const APP_SCRIPT_TEXT = `#!/bin/sh
# check-fluid-mount-ready.sh PATH[:PATH...] TYPE[:TYPE...]: waits until each PATH is mounted.
paths=$1 types=$2
tries=\${TRIES:-10} pause=\${PAUSE:-1}

${IS_MOUNTED}

while [ -n "$paths" ]; do
  path=\${paths%%:*} type=\${types%%:*}
  case "$paths" in *:*) paths=\${paths#*:} ;; *) paths= ;; esac
  case "$types" in *:*) types=\${types#*:} ;; *) types= ;; esac
  i=0
  until is_mounted "$path" "$type"; do
    i=$((i + 1))
    if [ "$i" -ge "$tries" ]; then
      echo "$path ($type) is not mounted after $tries attempts: see the log of the container that mounts it" >&2
      exit 1
    fi
    sleep "$pause"
  done
done
`

export const scriptHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, LONGEST_HASH)
