// The source files that the checks read, and their text without comments. Shared by check-imports and check-module-state.
import { readdirSync } from 'node:fs'
import path from 'node:path'

/** TypeScript below a folder, without tests and declarations. */
export function sources(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.ts$/.test(entry.name) && !/\.(test|d)\.ts$/.test(entry.name))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort()
}

/** Removes block and line comments; line numbers are kept. A `//` in a string stays: it follows a colon or a quote. */
export function withoutComments(text) {
  return text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, '')).replace(/(^|[^:'"`/\\])\/\/.*$/gm, '$1')
}
