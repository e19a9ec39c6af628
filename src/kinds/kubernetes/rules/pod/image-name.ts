/**
 * The tag of a container image, as far as defaulting needs it: whether it is `latest`, explicitly or implied. The grammar is
 * that of distribution/reference; an invalid name has no tag at all.
 */
const DOMAIN_COMPONENT = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])'
const DOMAIN = `(?:${DOMAIN_COMPONENT}(?:\\.${DOMAIN_COMPONENT})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const REFERENCE = new RegExp(
  `^((?:${DOMAIN}/)?${COMPONENT}(?:/${COMPONENT})*)(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
)
const HEX_ID = /^[a-f0-9]{64}$/
/** Longer text is never an image name; the bound keeps the match cheap on hostile input. */
const MAX_LENGTH = 1024
const MAX_NAME_LENGTH = 255

export function usesLatestTag(image: string): boolean {
  if (image.length > MAX_LENGTH || HEX_ID.test(image)) return false
  const name = withDomain(image)
  const match = REFERENCE.exec(name)
  if (match === null || (match[1] ?? '').length > MAX_NAME_LENGTH || hasUpperCaseRepository(name)) return false
  const [, , tag, digest] = match
  return tag === undefined ? digest === undefined : tag === 'latest'
}

/** The first part is a registry if it looks like a host; otherwise the image is on docker.io. */
function withDomain(image: string): string {
  const slash = image.indexOf('/')
  const first = slash < 0 ? '' : image.slice(0, slash)
  const isDomain = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first)
  if (isDomain) return image
  return slash < 0 ? `docker.io/library/${image}` : `docker.io/${image}`
}

function hasUpperCaseRepository(name: string): boolean {
  const remainder = name.slice(name.indexOf('/') + 1)
  const colon = remainder.indexOf(':')
  const repository = colon >= 0 ? remainder.slice(0, colon) : remainder
  return repository.toLowerCase() !== repository
}
