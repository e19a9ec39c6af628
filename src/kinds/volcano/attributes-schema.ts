/** Attributes of data, as sources have them and claims name them: a bounded map of free texts. */
import { s } from '../schema/builder.ts'
import { LONGEST_NAME, MOST_ENTRIES } from './limits.ts'

export const attributes = (description: string) =>
  s.map(s.string({ maxLength: LONGEST_NAME }), { description, maxProperties: MOST_ENTRIES })
