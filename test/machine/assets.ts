/**
 * Which real binaries this machine has: those of scripts/kube-assets (or of $KUBEBUILDER_ASSETS), and any kubectl in PATH.
 * Nothing is built or downloaded here; what is missing is reported with how to get it.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'

export type AssetName = 'kubectl' | 'kube-controller-manager' | 'kube-scheduler' | 'kwok'

export const CONTROL_PLANE: AssetName[] = ['kube-controller-manager', 'kube-scheduler', 'kwok']

export interface Kubectl {
  path: string
  version: string
  minor: number
}

export function assetsFolder(): string {
  const { KUBEBUILDER_ASSETS: given } = process.env
  if (given !== undefined && given !== '') return given
  return spawnSync('scripts/kube-assets/build', ['--print-dir'], { encoding: 'utf8' }).stdout.trim()
}

export function assetPath(name: AssetName): string {
  return path.join(assetsFolder(), name)
}

/** Why the named binaries cannot be used, or nothing when all are there. */
export function missingAssets(names: AssetName[]): string | undefined {
  const missing = names.filter((name) => !isExecutable(assetPath(name)))
  return missing.length === 0 ? undefined : `no ${missing.join(', ')} in ${assetsFolder()} (scripts/kube-assets/build makes them)`
}

/** The kubectl that the sessions were recorded with. */
export function recordedKubectl(): Kubectl | undefined {
  return kubectlAt(assetPath('kubectl'))
}

/** Every other kubectl from 1.28 on in PATH. */
export function otherKubectls(): Kubectl[] {
  const recorded = recordedKubectl()
  const found = (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => kubectlAt(path.join(folder, 'kubectl')))
    .filter((kubectl) => kubectl !== undefined)
    .filter((kubectl) => kubectl.minor >= 28 && kubectl.version !== recorded?.version)
  return [...new Map(found.map((kubectl) => [kubectl.version, kubectl])).values()]
}

function kubectlAt(file: string): Kubectl | undefined {
  if (!isExecutable(file)) return undefined
  const said = spawnSync(file, ['version', '--client', '-o', 'json'], { encoding: 'utf8', timeout: 20_000 })
  if (said.status !== 0) return undefined
  const { clientVersion } = JSON.parse(said.stdout) as { clientVersion: { gitVersion: string; minor: string } }
  return { path: file, version: clientVersion.gitVersion, minor: Number.parseInt(clientVersion.minor, 10) }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
