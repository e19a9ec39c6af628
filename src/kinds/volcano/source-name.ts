/**
 * The name of the DataSource object for data that a workload makes: readable at the front, unique at the end. What a system
 * calls its data may contain anything, so the readable part is only a hint. The hash is over everything that distinguishes
 * one source from another, and long enough that nobody finds data of his own whose source takes a name from somebody else.
 * Never change it: sources are found by it.
 */
import { createHash } from 'node:crypto'
import type { DataName } from './annotations.ts'

const LONGEST_SLUG = 60
/** 80 bits, in 16 letters. */
const HASH_BYTES = 10
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** `namespace` is that of the workload: two namespaces that make data of one name get two sources. */
export function sourceObjectName(of: DataName, namespace: string): string {
  const { system, type, name } = of
  return `${slugOf(`${system}-${type}-${name}`) || 'data'}-${hashOf([namespace, system, type, name])}`
}

/** Labels that begin and end with a letter or digit, separated by dots. */
function slugOf(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9.]+/g, '-').toLowerCase()
  const joined = plain.replace(/-*\.[-.]*/g, '.').replace(/^[-.]+/, '')
  return joined.slice(0, LONGEST_SLUG).replace(/[-.]+$/, '')
}

/** JSON keeps apart what plain UTF-8 would not: parts that run into each other, and halves of surrogate pairs. */
function hashOf(parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, HASH_BYTES)
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  return bits.replace(/.{5}/g, (five) => ALPHABET[Number.parseInt(five, 2)] ?? '')
}
