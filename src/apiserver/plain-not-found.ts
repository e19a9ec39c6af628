/** Thrown for paths outside the built-in groups that are not served: the real server answers these in plain text. */
export class PlainNotFound extends Error {
  constructor() {
    super('404 page not found')
    this.name = 'PlainNotFound'
  }
}
