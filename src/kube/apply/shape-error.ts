/** A value, an object or a field set that does not have the shape its type or format requires. The message is the real server's. */
export class ShapeError extends Error {
  constructor(messages: string | readonly string[]) {
    const list = typeof messages === 'string' ? [messages] : messages
    super(list.length === 1 ? (list[0] ?? '') : ['errors:', ...list.map((message) => `  ${message}`)].join('\n'))
    this.name = 'ShapeError'
  }
}
