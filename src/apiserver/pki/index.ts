export type { KeyPair, Subject } from './certificates.ts'
export { ensurePki, type KeyDirectory, type Pki, PkiError, type PkiOptions } from './pki.ts'
export { keepPkiFresh, type RotationOptions } from './rotation.ts'
