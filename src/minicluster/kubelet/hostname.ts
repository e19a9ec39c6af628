/** The host name that the containers of a pod see. Pure. */
import type { Pod } from '../../kinds/kubernetes/types.ts'

/** Host names have at most 63 characters. */
export function hostnameOf({ spec, metadata }: Pod): string {
  if (spec?.hostNetwork === true) return spec.nodeName ?? ''
  const name = spec?.hostnameOverride ?? spec?.hostname ?? metadata.name ?? ''
  return name.slice(0, 63).replace(/[-.]+$/, '')
}
