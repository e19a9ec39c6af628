/** Kernel parameters of a pod: well formed, listed once, and not in a namespace that the pod shares with the host. */
import { duplicate, type FieldError, invalid, required } from '../../../../kube/field-error.ts'
import { boolean, type Fields, maybeObject, objects, string } from '../fields.ts'

const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const PATTERN = `^(${SEGMENT}[\\./])*${SEGMENT}$`
const NAME = new RegExp(PATTERN)
const MAX_LENGTH = 253
const IPC_NAMES: ReadonlySet<string> = new Set(
  ['sem', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'shm', 'msgmax', 'msgmnb', 'msgmni', 'msg'].map((name) => `kernel.${name}`),
)

export function validateSysctls(path: string, spec: Fields, allowHost: boolean): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  objects(maybeObject(spec, 'securityContext'), 'sysctls').forEach((sysctl, i) => {
    const at = `${path}[${i}].name`
    const name = string(sysctl, 'name')
    if (name === '') errors.push(required(at))
    else if (name.length > MAX_LENGTH || !NAME.test(name)) {
      errors.push(invalid(at, name, `must have at most ${MAX_LENGTH} characters and match regex ${PATTERN}`))
    } else if (names.has(name)) errors.push(duplicate(at, name))
    const host = isHostSysctl(name, spec)
    if (!allowHost && host !== undefined) errors.push(invalid(at, name, `may not be specified when '${host}' is true`))
    names.add(name)
  })
  return errors
}

/** The field by which the pod shares the parameter's namespace with the host, if it does. */
export function isHostSysctl(name: string, spec: Fields): 'hostNetwork' | 'hostIPC' | undefined {
  const dotted = normalName(name).split('*')[0] ?? ''
  if (boolean(spec, 'hostNetwork') && dotted.startsWith('net.')) return 'hostNetwork'
  if (boolean(spec, 'hostIPC') && (IPC_NAMES.has(dotted) || dotted.startsWith('fs.mqueue.'))) return 'hostIPC'
  return undefined
}

/** `net/ipv4/conf/eno2.100/x` and `net.ipv4.conf.eno2/100.x` are the same parameter. */
function normalName(name: string): string {
  const separator = /[./]/.exec(name)?.[0]
  return separator === '/' ? name.replace(/[./]/g, (c) => (c === '.' ? '/' : '.')) : name
}
