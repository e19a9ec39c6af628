/** How the real server shows a body it could not read: text that looks like JSON as text, anything else as hex, both cut short. */
const TEXT_LIMIT = 30
const HEX_LIMIT = 8

export function describeBytes(body: Uint8Array): string {
  if (body.length === 0) return '<empty>'
  const text = Buffer.from(body).toString('utf8')
  if (text.startsWith('{')) return text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT)} ...` : text
  const hex = Buffer.from(body).toString('hex')
  return hex.length > HEX_LIMIT * 8 ? `${hex.slice(0, HEX_LIMIT * 8)} ...` : hex
}
