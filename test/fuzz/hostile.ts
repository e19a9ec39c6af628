/** Values that break programs which did not expect them. */
import type { Json } from '../../src/base/json.ts'
import type { Choice } from './choice.ts'

export const PROTOTYPE_KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'length',
  '__defineGetter__',
]

const STRINGS = [
  '',
  ' ',
  'a',
  '.',
  '..',
  '/',
  '-',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\ufeff',
  '\u202e',
  '💥',
  'İ',
  '%',
  '%2e%2e%2f',
  '$(jndi:x)',
  '{{.}}',
  "'; DROP TABLE",
  '<script>',
  'null',
  'true',
  '0',
  '-0',
  '1e999',
  'NaN',
  '0x10',
  '1Ki',
  '1e3',
  '-1',
  '999999999999999999999',
  '100m',
  '1.5Gi',
  '1n',
  '5E',
  '2025-01-01T00:00:00Z',
  '2025-13-45T99:99:99Z',
  '0001-01-01T00:00:00Z',
  'a=b',
  'a in (b,c)',
  '!a',
  'a==b,',
  '10.0.0.1',
  '::1',
  '10.0.0.0/33',
  '1h30m',
  '-5s',
  ...PROTOTYPE_KEYS,
]

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  2,
  1.5,
  -1.5,
  1e-9,
  65535,
  65536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  -(2 ** 63),
  1e21,
  1e308,
]

export function hostileString(choice: Choice): string {
  if (choice.chance(0.15))
    return choice
      .of(['a', 'A', '-', '.', '/', 'é', '0', ' ', '\n', '(', 'a.', 'a/'])
      .repeat(choice.of([63, 64, 253, 254, 1024, 5000, 70_000]))
  return choice.of(STRINGS)
}

export function hostileValue(choice: Choice): Json {
  return choice.weighted<() => Json>([
    [4, () => hostileString(choice)],
    [3, () => choice.of(NUMBERS)],
    [2, () => null],
    [1, () => true],
    [1, () => false],
    [2, () => []],
    [2, () => ({})],
    [1, () => [null]],
    [1, () => [hostileString(choice), choice.of(NUMBERS), {}]],
    [1, () => hostileKeys(choice)],
    [0.4, () => nested(choice, choice.of([10, 200, 600]))],
    [0.2, () => Array.from({ length: choice.of([100, 5000]) }, (_, i) => i)],
    [0.2, () => Object.fromEntries(Array.from({ length: choice.of([100, 3000]) }, (_, i) => [`k${i}`, 'v']))],
  ])()
}

function hostileKeys(choice: Choice): Json {
  // Parsed, because a literal would set the prototype instead of a key.
  return JSON.parse(
    `{${JSON.stringify(choice.of(PROTOTYPE_KEYS))}:${choice.of(['null', '{}', '{"polluted":"yes"}', '[]', '"x"', '1'])},"a":"b"}`,
  ) as Json
}

/** Lists in lists, or objects in objects. */
function nested(choice: Choice, depth: number): Json {
  let value: Json = 'x'
  const isList = choice.chance(0.5)
  const key = choice.of(['a', 'properties', 'items', 'metadata', 'spec', 'f:a', 'not'])
  for (let i = 0; i < depth; i++) value = isList ? [value] : { [key]: value }
  return value
}

/** Text that is not quite JSON, or far too much of it. */
export function hostileText(choice: Choice): string {
  const deep = choice.of([1000, 9000, 100_000])
  return choice.of([
    () => '['.repeat(deep),
    () => '{"a":'.repeat(deep),
    () => `${'['.repeat(deep)}${']'.repeat(deep)}`,
    () => `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`,
    () => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}}`,
    () => '{"__proto__":{"polluted":1},"metadata":{"__proto__":{"name":"p"},"labels":{"__proto__":"x"}}}',
    () => '{"a":1,"a":2,"metadata":{"name":"x","name":"y"}}',
    () => '{"metadata":{"name":"x"}}{"metadata":{"name":"y"}}',
    () => '{"kind":1,"apiVersion":[],"metadata":"x"}',
    () => '\ufeff{}',
    () => '{"a":01}',
    () => '{"a":1e400}',
    () => `{"a":${'9'.repeat(choice.of([20, 400, 20_000]))}}`,
    () => `{"a":"\\ud800"}`,
    () => '{"a":"\\u0000"}',
    () => "{'a':1}",
    () => '{"a":1,}',
    () => 'null',
    () => 'true',
    () => '"x"',
    () => '7',
    () => '[]',
    () => '{}',
    () => '',
    () => ' \n\t ',
    () => '\u0000',
    () => 'k8s\u0000',
    () => `a: &a [x]\nb: ${'*a '.repeat(10)}`,
    () => YAML_BOMB,
    () => `${'- '.repeat(deep)}x`,
    () => '---\n---\na: 1\n',
    () => '!!js/function "x"',
    () => '? [a]\n: b\n<<: *x',
    () => `{"kind":"${'A'.repeat(200_000)}"}`,
    () => `{"apiVersion":"${'a/'.repeat(50_000)}"}`,
  ])()
}

/** Nine levels of nine references each: a billion strings if they are copied. */
const YAML_BOMB = Array.from(
  { length: 10 },
  (_, i) => `a${i}: &a${i} [${i === 0 ? '"x"' : Array.from({ length: 9 }, () => `*a${i - 1}`).join(', ')}]`,
).join('\n')

export function hostileBytes(choice: Choice): Buffer {
  return choice.of([
    () => Buffer.from(choice.bytes(choice.of([1, 10, 100, 2000]))),
    () => Buffer.concat([Buffer.from('k8s\0'), Buffer.from(choice.bytes(choice.of([0, 1, 10, 100, 2000])))]),
    () => Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(choice.of([5, 1000]), 0xff)]),
    () => Buffer.concat([Buffer.from('k8s\0'), Buffer.from([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]), Buffer.alloc(10)]),
    () => Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(100_000, 0x0b)]),
    () => Buffer.from([0xc3, 0x28, 0xff, 0xfe]),
    () => Buffer.concat([Buffer.from('{"metadata":{"name":"'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('"}}')]),
  ])()
}
