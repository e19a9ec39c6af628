/** What to do about a volume that a master or worker cannot mount, by the words of whoever could not. Pure. */

const ADVICE: readonly (readonly [RegExp, (name: string) => string])[] = [
  [
    /hostPath type check failed: (.{1,200}) is not a directory/,
    (path) => `create the directory ${path} on the node, or correct the local:// mount point of the Dataset`,
  ],
  [/secret "([^"]{1,253})" not found/, (name) => `create the Secret ${name}, or correct the encryptOptions of the Dataset`],
  [
    /references non-existent secret key: ?(\S{0,253})/,
    (key) => `add the key ${key} to the Secret, or correct the encryptOptions of the Dataset`,
  ],
  [
    /persistentvolumeclaim "([^"]{1,253})" not found/,
    (name) => `create the claim ${name}, or correct the pvc:// mount point of the Dataset`,
  ],
]

export function mountAdvice(message: string): string | undefined {
  for (const [pattern, advice] of ADVICE) {
    const found = pattern.exec(message)
    if (found !== null) return advice(found[1] ?? '')
  }
  return undefined
}
