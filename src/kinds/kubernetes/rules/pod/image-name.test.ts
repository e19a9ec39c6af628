import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { usesLatestTag } from './image-name.ts'

const DIGEST = `sha256:${'a'.repeat(64)}`

describe('tag of an image', () => {
  const table: [image: string, isLatest: boolean][] = [
    ['nginx', true],
    ['nginx:latest', true],
    ['nginx:1.27', false],
    ['nginx:LATEST', false],
    ['localhost:5000/x', true],
    ['localhost:5000/x:1', false],
    ['[::1]:5000/x', true],
    [`nginx@${DIGEST}`, false],
    [`nginx:latest@${DIGEST}`, true],
    // An invalid image name has no tag, and so is never `latest`.
    ['', false],
    ['Nginx', false],
    ['x//y', false],
    ['x:lat est', false],
    ['a'.repeat(64), false],
    ['a'.repeat(100_000), false],
  ]
  for (const [image, isLatest] of table) {
    it(`${image.slice(0, 40)} ${isLatest ? 'is' : 'is not'} the latest`, () => assert.equal(usesLatestTag(image), isLatest))
  }
})
