/** Purge modes were renamed; they are stored under their current names. */
import { maybeObject, maybeString, object, writableObjects } from '../../kubernetes/rules/fields.ts'
import { PURGE_MODE_ALIASES } from '../failover.ts'

/** In the spec of a policy or of a binding. */
export function renamePurgeModes(spec: unknown): void {
  const failover = object(spec, 'failover')
  for (const holder of [
    maybeObject(failover, 'application'),
    maybeObject(failover, 'cluster'),
    ...writableObjects(spec, 'gracefulEvictionTasks'),
  ])
    if (holder !== undefined) rename(holder)
}

function rename(holder: Record<string, unknown>): void {
  const mode = maybeString(holder, 'purgeMode')
  if (mode !== undefined && Object.hasOwn(PURGE_MODE_ALIASES, mode)) holder.purgeMode = PURGE_MODE_ALIASES[mode]
}
