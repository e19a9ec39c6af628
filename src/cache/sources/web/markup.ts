/**
 * The two forms of markup that sources answer with: index pages (only the targets of their links matter) and answers of S3 (flat
 * XML without attributes that matter). A parser of our own, because all of HTML and XML would bring entities that expand,
 * documents that include others and trees in memory; this reads from left to right, once, and knows no such thing.
 */
import { MOST_LINKS } from '../limits.ts'
import { SourceRefused } from '../source.ts'

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const REFERENCE = /&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-z]{1,4}));/g

/** Anything that is no known reference stays as it is. */
export const decodeReferences = (text: string): string =>
  text.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })

/** Of every `<a>` of a page, as written but with references decoded. */
export function linksOf(html: string, most = MOST_LINKS): string[] {
  const links: string[] = []
  const tag = /<!--|<(script|style)\b|<a(?=[\s/])/gi
  for (let found = tag.exec(html); found !== null; found = tag.exec(html)) {
    const skipped = found[0] === '<!--' ? '-->' : found[1] === undefined ? undefined : `</${found[1].toLowerCase()}`
    if (skipped !== undefined) {
      const end = indexOfCaseless(html, skipped, tag.lastIndex)
      if (end < 0) break
      tag.lastIndex = end
      continue
    }
    const { href, end } = readTag(html, tag.lastIndex)
    tag.lastIndex = end
    if (href !== undefined) links.push(decodeReferences(href))
    if (links.length > most) throw new SourceRefused(`an index page has more than ${most} links: mount directories of it separately`)
  }
  return links
}

/** `name`, `name=value`, `name="value"` or `name='value'`; sticky, so that each character is looked at once. */
const ATTRIBUTE = /[\s/]*([^\s=>/"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?/y

function readTag(html: string, from: number): { href?: string; end: number } {
  let href: string | undefined
  let at = from
  for (;;) {
    ATTRIBUTE.lastIndex = at
    const match = ATTRIBUTE.exec(html)
    if (match === null) return { href, end: at }
    at = ATTRIBUTE.lastIndex
    const [, name = '', double, single, bare] = match
    if (name.toLowerCase() === 'href') href ??= double ?? single ?? bare
  }
}

function indexOfCaseless(text: string, what: string, from: number): number {
  if (what === '-->') return text.indexOf(what, from)
  const match = new RegExp(what, 'gi')
  match.lastIndex = from
  return match.exec(text)?.index ?? -1
}

/** Where an element is and what it says: `ListBucketResult/Contents/Key`. */
export interface Leaf {
  path: string
  text: string
}

const DEEPEST = 8
const ELEMENT = /^(\/?)([A-Za-z_][\w.:-]{0,99})(?:\s[^<]*?)?(\/?)$/

/** Every end of an element, in order, with the text directly before it. Throws on anything that is not plain XML. */
export function* leavesOf(xml: string): Generator<Leaf, void> {
  const open: string[] = []
  let text = ''
  for (let at = 0; at < xml.length; ) {
    const start = xml.indexOf('<', at)
    text += xml.slice(at, start < 0 ? xml.length : start)
    if (start < 0) break
    if (xml.startsWith('<!--', start)) {
      at = after(xml, '-->', start)
      continue
    }
    if (xml.startsWith('<?', start)) {
      at = after(xml, '?>', start)
      continue
    }
    const end = after(xml, '>', start)
    const [, isEnd, name = '', isEmpty] = ELEMENT.exec(xml.slice(start + 1, end - 1)) ?? []
    at = end
    if (name === '' || (isEnd && isEmpty)) throw notXml()
    if (!isEnd) open.push(name)
    if (open.length > DEEPEST) throw notXml()
    if (isEnd || isEmpty) {
      if (open.at(-1) !== name) throw notXml()
      yield { path: open.join('/'), text: isEnd ? decodeReferences(text) : '' }
      open.pop()
    }
    text = ''
  }
  if (open.length > 0) throw notXml()
}

function after(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from)
  if (at < 0) throw notXml()
  return at + what.length
}

const notXml = (): Error => new Error('the answer is not the XML of S3: check the endpoint')
