/** Every file of a checkout that may contain manifests, with its path in the checkout; sorted. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type Manifest, manifestsIn } from './manifest-documents.ts'

const NAMES = /\.(md|ya?ml)$/
/** Sources of others, and directories of git and the like. */
const IGNORED = /(^|\/)(vendor|node_modules|\.[^/]+)\//

export const manifestsBelow = (directory: string): Manifest[] =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && NAMES.test(entry.name))
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .filter((file) => !IGNORED.test(file))
    .sort()
    .flatMap((file) => manifestsIn(file, readFileSync(path.join(directory, file), 'utf8')))
