/**
 * Strings as bytes. Lua counts bytes, JavaScript counts UTF-16 units; for ASCII, which is nearly everything, they are the
 * same. Other strings are turned into one character per byte for the functions that count, and back afterwards. A byte that
 * is not UTF-8 (half a character after `sub`) is kept as a lone surrogate U+DC80 to U+DCFF until the string leaves the
 * script, where it becomes U+FFFD.
 */
/** Called when a string holds bytes that are not UTF-8, so that the result is searched for them. */
export interface StrayMark {
  hasStrayBytes: boolean
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII
const BEYOND_ASCII = /[^\x00-\x7f]/
const STRAY = /[\udc80-\udcff]/

export const isAscii = (text: string): boolean => !BEYOND_ASCII.test(text)

export const byteCount = (text: string): number => (BEYOND_ASCII.test(text) ? toBytes(text).length : text.length)

/** What reading a string as bytes costs, in steps. */
export const byteWork = (text: string): number => (isAscii(text) ? text.length >> 6 : text.length)

/** One character, U+0000 to U+00FF, per byte of the UTF-8 form. */
export function toBytes(text: string): string {
  if (isAscii(text)) return text
  if (!STRAY.test(text)) return Buffer.from(text, 'utf8').toString('latin1')
  let bytes = ''
  for (const char of text) {
    const unit = char.charCodeAt(0)
    bytes +=
      char.length === 1 && unit >= 0xdc80 && unit <= 0xdcff ? String.fromCharCode(unit - 0xdc00) : Buffer.from(char).toString('latin1')
  }
  return bytes
}

/** The string of these bytes. */
export function fromBytes(mark: StrayMark, bytes: string): string {
  if (isAscii(bytes)) return bytes
  const buffer = Buffer.from(bytes, 'latin1')
  const text = buffer.toString('utf8')
  if (!text.includes('\ufffd')) return text
  return decodeKeepingStrays(mark, buffer)
}

function decodeKeepingStrays(mark: StrayMark, buffer: Buffer): string {
  let text = ''
  for (let i = 0; i < buffer.length; ) {
    const length = sequenceLength(buffer[i] as number)
    const char = buffer.subarray(i, i + length).toString('utf8')
    const isWhole = length > 0 && i + length <= buffer.length && (!char.includes('\ufffd') || isReplacement(buffer, i))
    if (isWhole) {
      text += char
      i += length
      continue
    }
    mark.hasStrayBytes = true
    text += String.fromCharCode(0xdc00 + (buffer[i] as number))
    i++
  }
  return text
}

const sequenceLength = (lead: number): number =>
  lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0

/** U+FFFD that was in the input. */
const isReplacement = (buffer: Buffer, at: number): boolean => buffer[at] === 0xef && buffer[at + 1] === 0xbf && buffer[at + 2] === 0xbd

/** A string as it leaves the script. */
export const withoutStrays = (text: string): string => text.replace(/(?<![\ud800-\udbff])[\udc80-\udcff]/g, '\ufffd')
