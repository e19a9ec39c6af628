// The tests that depend on more than their own code: on processes, sockets and the clock of this machine. When one of them fails it is
// run once more on its own; everything else runs in virtual time or in memory, and gets no retry.
export const USES_THE_MACHINE = [
  'src/apiserver/listener/',
  'src/cache/',
  'src/cli/member-access.test.ts',
  'src/cli/webhooks.test.ts',
  'src/client/transport/',
  'src/fleet/cluster-proxy/wire.test.ts',
  'src/minicluster/kubelet/real-machine.test.ts',
  'src/minicluster/process/',
  'src/runtime/listener/',
  'src/store/journal/lock.test.ts',
  'test/client/',
  'test/kube/',
  'test/machine/',
  'test/process/',
]

export function usesTheMachine(file) {
  return USES_THE_MACHINE.some((place) => (place.endsWith('/') ? file.startsWith(place) : file === place))
}
