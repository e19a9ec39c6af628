import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { displayWidth, layout, shownText } from './fleet-table-layout.ts'

describe('how wide a text is on a terminal', () => {
  for (const [text, width] of [
    ['', 0],
    ['web-1', 5],
    ['größe', 5],
    ['gro\u0308ße', 5],
    ['部署', 4],
    ['デプロイ', 8],
    ['ｶﾅ', 2],
    ['Ａ', 2],
    ['배포', 4],
    ['🚀', 2],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['1\ufe0f\u20e3', 2],
    ['Привет', 6],
    ['\u200b', 0],
    ['a\u200db', 2],
    ['…', 1],
    ['#1', 2],
  ] as const)
    it(`${JSON.stringify(text)}: ${width}`, () => assert.equal(displayWidth(text), width))
})

describe('what is shown of a cell', () => {
  for (const [text, shown] of [
    ['two\nlines', 'two...'],
    ['two\r\nlines', 'two...'],
    ['\u001b[31mred\u0007', '\ufffd[31mred\ufffd'],
    ['a\u202eb', 'a\ufffdb'],
    ['tab\there', 'tab\ufffdhere'],
    ['lone \ud800 half', 'lone \ufffd half'],
    ['end  ', 'end'],
  ] as const)
    it(JSON.stringify(text), () => assert.equal(shownText(text), shown))
})

describe('a table', () => {
  it('has columns three spaces apart, and no spaces at the ends of lines', () => {
    const rows = [
      ['CLUSTER', 'NAME', 'READY', 'ADOPTION'],
      ['member1', '部署', '1/1', 'Y'],
      ['a-long-member', 'web', '', 'N'],
      ['m', 'last', '', ''],
    ]
    assert.equal(
      layout(rows),
      [
        'CLUSTER         NAME   READY   ADOPTION',
        'member1         部署   1/1     Y',
        'a-long-member   web            N',
        'm               last',
        '',
      ].join('\n'),
    )
  })

  it('is painted without moving anything', () => {
    const rows = [
      ['A', 'B'],
      ['x', 'yy'],
    ]
    assert.equal(layout(rows, (text, { row, column }) => `<${row}${column}${text}>`).replace(/<\d\d(\w+)>/g, '$1'), layout(rows))
  })

  const cell = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('', 'web', '部署', '👩‍👩‍👧', 'a\u0300', '\u001b[2J', 'x\ny', ' '),
  )
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((columns) => fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 8 }))

  it('has every column at one place, whatever the script, and is never wider than needed', () => {
    fc.assert(
      fc.property(table, (rows) => {
        const text = layout(rows)
        const lines = text.split('\n')
        assert.equal(lines.pop(), '')
        assert.equal(lines.length, rows.length)
        const shown = rows.map((row) => row.map(shownText))
        const needed = (shown[0] ?? []).map((_, i) => Math.max(...shown.map((row) => displayWidth(row[i] ?? ''))))
        const start = needed.map((_, i) => needed.slice(0, i).reduce((sum, width) => sum + width + 3, 0))
        for (const [at, line] of lines.entries()) {
          assert.equal(line, line.trimEnd())
          // Walks along the line: each cell begins at its column, with only spaces in between.
          let rest = line
          let column = 0
          for (const [i, content] of (shown[at] ?? []).entries()) {
            if (content === '') continue
            const gap = (start[i] ?? 0) - column
            assert.equal(rest.slice(0, gap).trim(), '')
            rest = rest.slice(gap)
            assert.ok(rest.startsWith(content), `${JSON.stringify(rest)} does not begin with ${JSON.stringify(content)}`)
            rest = rest.slice(content.length)
            column = (start[i] ?? 0) + displayWidth(content)
          }
          assert.equal(rest, '')
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('holds nothing that a terminal acts on', () => {
    fc.assert(
      fc.property(table, (rows) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
        assert.doesNotMatch(layout(rows), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
      }),
    )
  })
})
