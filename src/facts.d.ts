/** Facts are JSON texts bundled as strings and parsed on first use. */
declare module '*.facts' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: esbuild's text loader gives a default export
  export default text
}

/** Transcripts for tests, bundled likewise. */
declare module '*.jsonl' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: esbuild's text loader gives a default export
  export default text
}

/** Interpreter rules, as a user would apply them. */
declare module '*.yaml' {
  const text: string
  // biome-ignore lint/style/noDefaultExport: esbuild's text loader gives a default export
  export default text
}
