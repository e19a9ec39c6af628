/** How the real server shows a body it could not read: text that looks like JSON as text, anything else as hex, both truncated. */
const LIMIT = 30

const OPENING_BRACE = 0x7b

export function describeBytes(body: Uint8Array): string {
  if (body.length === 0) return '<empty>'
  const shown = Buffer.from(body.slice(0, LIMIT)).toString(body[0] === OPENING_BRACE ? 'utf8' : 'hex')
  return body.length > LIMIT ? `${shown} ...` : shown
}
