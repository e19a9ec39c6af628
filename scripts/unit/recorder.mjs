// A reporter of node:test: one line of JSON for every test that ended, with the names of the suites around it.

// biome-ignore lint/style/noDefaultExport: node:test takes the default export of a reporter.
export default async function* recorder(events) {
  const names = []
  let topLevel = -1
  for await (const { type, data } of events) {
    if (type === 'test:start') {
      names.splice(data.nesting, Number.POSITIVE_INFINITY, data.name)
      if (data.nesting === 0) topLevel++
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const { nesting, name, skip, details } = data
    yield `${JSON.stringify({
      names: [...names.slice(0, nesting), name],
      isSuite: details.type === 'suite',
      hasFailed: type === 'test:fail' && data.todo === undefined,
      isSkipped: skip !== undefined,
      ms: details.duration_ms,
      topLevel,
    })}\n`
  }
}
