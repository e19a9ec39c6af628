// Runs the client suite on a real kube-apiserver: npm run test:client-kube
// Without the binaries (scripts/kube-assets builds them) it says so and ends well: there is nothing to compare with.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'

const up = path.join('scripts', 'kube-assets', 'up')
const bin =
  process.env.KUBEBUILDER_ASSETS ?? path.join(process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache'), 'kube-assets', 'v1.36.3')
if (!existsSync(up) || !existsSync(path.join(bin, 'kube-apiserver'))) {
  console.log(`skipped: client suite on a real kube-apiserver (no kube-apiserver in ${bin}; scripts/kube-assets/build makes one)`)
  process.exit(0)
}
const dir = mkdtempSync(path.join(tmpdir(), 'sluice-kube-'))
let status = 1
try {
  const started = spawnSync(up, ['--no-fsync', '--bin', bin, dir], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const kubeconfig = /^kubeconfig=(.*)$/m.exec(started.stdout ?? '')?.[1]
  if (started.status === 0 && kubeconfig !== undefined) {
    const env = { ...process.env, SLUICE_TEST_KUBECONFIG: kubeconfig }
    status = spawnSync(process.execPath, ['scripts/unit.mjs', 'test/client/kube.test.ts'], { stdio: 'inherit', env }).status ?? 1
  }
} finally {
  spawnSync(up, ['--stop', '--rm', dir], { stdio: 'inherit' })
}
process.exit(status)
