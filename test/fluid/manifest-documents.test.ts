import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { manifestsIn } from './manifest-documents.ts'

const DATASET = 'apiVersion: data.fluid.io/v1alpha1\nkind: Dataset\nmetadata:\n  name: a\n'
const SECRET = 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n'

/** `line kind/name` of each, or `line problem`. */
const found = (file: string, text: string): string[] =>
  manifestsIn(file, text).map(({ line, object, problem }) =>
    object === undefined ? `${line} ${problem}` : `${line} ${object.kind}/${object.metadata.name}`,
  )

describe('finding manifests of Fluid', () => {
  it('takes the documents of a file, and no others', () => {
    assert.deepEqual(found('a.yaml', `${SECRET}---\n${DATASET}---\n${SECRET}`), ['6 Dataset/a'])
  })
  it('also where kind comes first', () => {
    assert.deepEqual(found('a.yaml', 'kind: Dataset\napiVersion: "data.fluid.io/v1alpha1"\nmetadata: {name: b}\n'), ['1 Dataset/b'])
  })
  it('does not take for an object what an object of another kind refers to', () => {
    const scaler =
      'apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec:\n  scaleTargetRef:\n    apiVersion: data.fluid.io/v1alpha1\n    kind: AlluxioRuntime\n'
    assert.deepEqual(found('a.yaml', scaler), [])
  })
  it('takes what a page shows in code blocks, and nothing between them', () => {
    assert.deepEqual(found('a.md', `text\n${DATASET}\n\`\`\`yaml\n${DATASET}\`\`\`\n~~~ yaml\n${DATASET}~~~\n`), [
      '8 Dataset/a',
      '14 Dataset/a',
    ])
  })
  it('ends a document of a session where the next command begins', () => {
    const session = `\`\`\`shell\n$ cat <<EOF > dataset.yaml\n${DATASET}EOF\n$ kubectl create -f dataset.yaml\n$ cat <<EOF > two.yaml\n${DATASET}${DATASET}EOF\n\`\`\`\n`
    assert.deepEqual(found('a.md', session), ['3 Dataset/a', '10 Dataset/a', '14 Dataset/a'])
  })
  it('takes indented documents, and leaves out dots for what is not shown', () => {
    const list = `1. first\n   \`\`\`yaml\n${DATASET.replaceAll(/^/gm, '   ')}\n   spec:\n     ...\n     placement: Shared\n   \`\`\`\n`
    const [manifest] = manifestsIn('a.md', list)
    assert.deepEqual(manifest?.object?.spec, { placement: 'Shared' })
  })
  it('says what is no YAML, and what is no object', () => {
    assert.deepEqual(found('a.yaml', 'apiVersion: data.fluid.io/v1alpha1\nkind: Dataset\n'), ['1 no object: it has no metadata'])
    assert.match(found('a.yaml', `${DATASET}spec:\n\tmounts: []\n`)[0] ?? '', /^1 no YAML: Tabs are not allowed/)
  })
})
