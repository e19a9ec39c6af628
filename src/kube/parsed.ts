/** The outcome of reading a text: a value, or the sentence Go's parser would have returned as its error. */
export type Parsed<T> = { value: T; error?: undefined } | { value?: undefined; error: string }

export const parsed = <T>(value: T): Parsed<T> => ({ value })
export const unparsed = <T>(error: string): Parsed<T> => ({ error })
