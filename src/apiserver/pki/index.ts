export type { KeyPair } from './certificates.ts'
export { ensurePki, type KeyDirectory, type Pki, PkiError } from './pki.ts'
export { keepPkiFresh } from './rotation.ts'
