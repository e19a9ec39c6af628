import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KubeconfigError, type KubeconfigHost } from './credentials.ts'
import { connectionOf, formatKubeconfig, inClusterConnection, parseKubeconfig } from './kubeconfig.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

interface FakeHost extends KubeconfigHost {
  files: Record<string, string>
  runs: { command: string; args: readonly string[]; env: Record<string, string> }[]
  prints: string
  nowMs: () => number
  move(ms: number): void
}

function aHost(files: Record<string, string> = {}, variables: Record<string, string> = {}): FakeHost {
  let now = Date.UTC(2026, 0, 1)
  const host: FakeHost = {
    files,
    runs: [],
    prints: '',
    readFile(path) {
      const text = host.files[path]
      if (text === undefined) throw new KubeconfigError(`${path} cannot be read`)
      return text
    },
    resolvePath: (file, path) => (path.startsWith('/') ? path : `${file.slice(0, file.lastIndexOf('/'))}/${path}`),
    env: (name) => variables[name],
    async runPlugin(command, args, env) {
      host.runs.push({ command, args, env })
      return host.prints
    },
    nowMs: () => now,
    move: (ms) => {
      now += ms
    },
  }
  return host
}

function configOf(user: unknown, cluster: unknown = { server: 'https://one:6443' }): ReturnType<typeof parseKubeconfig> {
  const text = JSON.stringify({
    'current-context': 'one',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'one', context: { cluster: 'c', user: 'u', namespace: 'mine' } },
      { name: 'lost', context: { cluster: 'nowhere' } },
    ],
  })
  return parseKubeconfig(text, '/home/me/.kube/config')
}

const credential = (status: Record<string, unknown>): string =>
  JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })

describe('a kubeconfig', () => {
  it('gives the connection of the current context and of a named one', () => {
    const clusters = ['hub', 'member1'].map((context, i) => ({
      context,
      server: `https://127.0.0.1:${7443 + i}`,
      caPem: `ca ${context}`,
      certPem: 'cert',
      keyPem: 'key',
    }))
    const config = parseKubeconfig(formatKubeconfig(clusters, 'hub'), '/d/kubeconfig')
    const hub = connectionOf(config, undefined, aHost())
    assert.deepEqual(
      [hub.context, hub.server, hub.ca, hub.cert, hub.key, hub.namespace],
      ['hub', 'https://127.0.0.1:7443', 'ca hub', 'cert', 'key', 'default'],
    )
    assert.equal(connectionOf(config, 'member1', aHost()).server, 'https://127.0.0.1:7444')
  })

  it('reads certificates from data first, then from files beside it', () => {
    const host = aHost({
      '/home/me/.kube/client.crt': 'cert of file',
      '/keys/client.key': 'key of file',
      '/home/me/.kube/ca.crt': 'ca of file',
    })
    const cluster = { server: 'https://one', 'certificate-authority': 'ca.crt', 'tls-server-name': 'two', 'insecure-skip-tls-verify': true }
    const files = connectionOf(configOf({ 'client-certificate': 'client.crt', 'client-key': '/keys/client.key' }, cluster), 'one', host)
    assert.deepEqual([files.ca, files.cert, files.key], ['ca of file', 'cert of file', 'key of file'])
    assert.deepEqual([files.serverName, files.insecureSkipTlsVerify, files.namespace], ['two', true, 'mine'])
    const both = {
      'client-certificate-data': base64('cert of data'),
      'client-certificate': 'client.crt',
      'client-key-data': base64('key of data'),
    }
    const data = connectionOf(configOf(both, { server: 'https://one', 'certificate-authority-data': base64('ca of data') }), 'one', host)
    assert.deepEqual([data.ca, data.cert, data.key, data.insecureSkipTlsVerify], ['ca of data', 'cert of data', 'key of data', false])
  })

  it('takes a token as it is written, and a token file as it becomes', async () => {
    const fixed = connectionOf(configOf({ token: 'secret' }), undefined, aHost())
    assert.equal(await fixed.token?.(), 'secret')
    const host = aHost({ '/home/me/.kube/token': 'first\n' })
    const { token } = connectionOf(configOf({ token: 'ignored', tokenFile: 'token' }), undefined, host)
    assert.equal(await token?.(), 'first')
    host.files['/home/me/.kube/token'] = 'second\n'
    assert.equal(await token?.(), 'first')
    assert.equal(await token?.(true), 'second', 'a refused token is read again at once')
    host.files['/home/me/.kube/token'] = 'third\n'
    host.move(60_001)
    assert.equal(await token?.(), 'third')
  })

  it('runs a credential plug-in with a list of arguments, once until it expires', async () => {
    const host = aHost()
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'bin/login',
      args: ['--for', 'a b; rm -rf /'],
      env: [{ name: 'REGION', value: 'eu' }],
    }
    const { token, clientCertificate } = connectionOf(configOf({ exec }), undefined, host)
    host.prints = credential({ token: 'first', expirationTimestamp: new Date(host.nowMs() + 10 * 60_000).toISOString() })
    assert.deepEqual(await Promise.all([token?.(), token?.()]), ['first', 'first'])
    assert.equal(await clientCertificate?.(), undefined)
    assert.equal(host.runs.length, 1)
    const [run] = host.runs
    assert.deepEqual([run?.command, run?.args, run?.env.REGION], ['/home/me/.kube/bin/login', ['--for', 'a b; rm -rf /'], 'eu'])
    assert.deepEqual(JSON.parse(run?.env.KUBERNETES_EXEC_INFO ?? ''), {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false },
    })
    host.prints = credential({ token: 'second', clientCertificateData: 'cert', clientKeyData: 'key' })
    host.move(9 * 60_000 + 1)
    assert.equal(await token?.(), 'second')
    assert.deepEqual(await clientCertificate?.(), { cert: 'cert', key: 'key' })
    host.move(365 * 86_400_000)
    assert.equal(await token?.(), 'second', 'what does not say when it expires does not')
    assert.equal(host.runs.length, 2)
  })

  it('says what is wrong with a plug-in, and tries again the next time', async () => {
    const host = aHost()
    const { token } = connectionOf(
      configOf({ exec: { command: 'login', installHint: 'get it from https://example.com' } }),
      undefined,
      host,
    )
    for (const printed of ['', 'no json', '{}', '[]', 'null', credential({})]) {
      host.prints = printed
      await assert.rejects(async () => token?.(), /plug-in login did not print an ExecCredential/)
    }
    host.runPlugin = () => Promise.reject(new KubeconfigError('the credential plug-in login failed: not found'))
    await assert.rejects(async () => token?.(), /not found\nget it from https:\/\/example\.com/)
    const none = connectionOf(configOf({ exec: {} }), undefined, host)
    await assert.rejects(async () => none.token?.(), /without a command/)
  })

  it('refuses what it cannot use with a sentence that names the file', () => {
    const host = aHost()
    const refused: [() => unknown, RegExp][] = [
      [() => parseKubeconfig('a: [', '/f'), /^\/f is not YAML/],
      [() => parseKubeconfig('', '/f'), /\/f is not a kubeconfig/],
      [() => parseKubeconfig('[1]', '/f'), /\/f is not a kubeconfig/],
      [() => connectionOf(parseKubeconfig('{}', '/f'), undefined, host), /\/f has no current context/],
      [() => connectionOf(configOf({}), 'two', host), /has no context two \(it has: one, lost\)/],
      [() => connectionOf(configOf({}), 'lost', host), /names cluster nowhere, which has no server/],
      [() => connectionOf(configOf({}, { server: 5 }), 'one', host), /which has no server/],
      [() => connectionOf(configOf({}, 'text'), 'one', host), /which has no server/],
      [() => connectionOf(configOf({ 'client-certificate': 'gone.crt' }), 'one', host), /gone\.crt cannot be read/],
    ]
    for (const [act, message] of refused) assert.throws(act, (error) => error instanceof KubeconfigError && message.test(error.message))
  })

  it('goes through the proxy that it names', () => {
    const { proxy } = connectionOf(configOf({}, { server: 'https://one', 'proxy-url': 'http://p:3128' }), 'one', aHost())
    assert.deepEqual(proxy, { url: 'http://p:3128' })
  })

  it('survives entries of any shape', () => {
    for (const odd of [null, 5, 'x', [], [null], [5], [{}], [{ name: null }], [{ name: 'one', context: 5 }], { name: 'one' }]) {
      const config = parseKubeconfig(JSON.stringify({ 'current-context': 'one', clusters: odd, users: odd, contexts: odd }), '/f')
      assert.throws(() => connectionOf(config, undefined, aHost()), KubeconfigError)
    }
  })
})

describe('a pod', () => {
  const dir = '/var/run/secrets/kubernetes.io/serviceaccount'
  it('finds the cluster it runs in', async () => {
    const host = aHost(
      { [`${dir}/namespace`]: 'ns\n', [`${dir}/ca.crt`]: 'ca', [`${dir}/token`]: 'first' },
      { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' },
    )
    const connection = inClusterConnection(host)
    assert.deepEqual([connection?.server, connection?.namespace, connection?.ca], ['https://[fd00::1]:443', 'ns', 'ca'])
    assert.equal(await connection?.token?.(), 'first')
    host.files[`${dir}/token`] = 'second'
    host.move(61_000)
    assert.equal(await connection?.token?.(), 'second')
  })
  it('knows when it is in none', () => assert.equal(inClusterConnection(aHost()), undefined))
})
