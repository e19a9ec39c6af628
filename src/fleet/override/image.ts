/**
 * The name of an image in its parts: registry (with port), repository, and tag or digest. If an image has both a tag and a
 * digest, Karmada keeps only the tag once it changes the image, and so do we.
 */
import type { ImageOverrider } from '../../kinds/karmada/index.ts'
import { goQuote } from '../../kube/go-print.ts'
import { DoesNotApply } from './json-patch.ts'

export interface Image {
  registry: string
  repository: string
  tag: string
  digest: string
}

const MAX_LENGTH = 4096
const MAX_PATH_LENGTH = 255
const TAG = '\\w[\\w.-]{0,127}'
const DIGEST = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}'
const HOST_PART = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const HOST = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`
const PATH_PART = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
const REFERENCE = new RegExp(`^((?:${HOST}/)?${PATH_PART}(?:/${PATH_PART})*)(?::(${TAG}))?(?:@(${DIGEST}))?$`)
const POSSIBLE_HOST = new RegExp(`^${HOST}/`)
const WHOLE_TAG = new RegExp(`^${TAG}$`)
const WHOLE_DIGEST = new RegExp(`^${DIGEST}$`)
/** The digests that can be validated; an image with any other is invalid. */
const KNOWN_DIGEST = /^(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})$/

/** Throws DoesNotApply if the text is not an image name. */
export function parseImage(text: string): Image {
  const match = text.length > MAX_LENGTH ? null : REFERENCE.exec(text)
  const [, name = '', tag = '', digest = ''] = match ?? []
  const isTooLong = name.replace(POSSIBLE_HOST, '').length > MAX_PATH_LENGTH
  if (match === null || isTooLong || (digest !== '' && !KNOWN_DIGEST.test(digest)))
    throw new DoesNotApply(`${goQuote(text.slice(0, 200))} is not the name of an image`)
  return { ...splitName(name), tag, digest: tag === '' ? digest : '' }
}

/** The first part is a registry if it looks like a host: with a dot or a port, or `localhost`. */
function splitName(name: string): Pick<Image, 'registry' | 'repository'> {
  const slash = name.indexOf('/')
  const first = name.slice(0, Math.max(slash, 0))
  if (!/[.:]/.test(first) && first !== 'localhost') return { registry: '', repository: name }
  return { registry: first, repository: name.slice(slash + 1) }
}

export function printImage({ registry, repository, tag, digest }: Image): string {
  const name = registry === '' ? repository : `${registry}/${repository}`
  if (tag !== '') return `${name}:${tag}`
  return digest === '' ? name : `${name}@${digest}`
}

type Change = Pick<ImageOverrider, 'component' | 'operator' | 'value'>

export const overrideImage = (text: string, change: Change): string => printImage(changedImage(parseImage(text), change))

function changedImage(image: Image, { component, operator, value = '' }: Change): Image {
  const part = (old: string): string => (operator === 'add' ? old + value : operator === 'replace' ? value : '')
  switch (component) {
    case 'Registry':
      return { ...image, registry: part(image.registry) }
    case 'Repository':
      return { ...image, repository: part(image.repository) }
    case 'Tag':
      return operator === 'remove'
        ? { ...image, tag: '', digest: '' }
        : withVersion(image, part(image.tag === '' ? image.digest : image.tag))
    default:
      throw new DoesNotApply(`images have no component ${goQuote(String(component))}`)
  }
}

/** Text that is neither a tag nor a digest changes nothing. */
function withVersion(image: Image, text: string): Image {
  if (WHOLE_TAG.test(text)) return { ...image, tag: text, digest: '' }
  return WHOLE_DIGEST.test(text) ? { ...image, tag: '', digest: text } : image
}
