export { openKeyDirectory } from './key-directory.ts'
export {
  DEFAULT_LISTENER_LIMITS,
  type Listener,
  type ListenerLimits,
  type ListenOptions,
  listen,
  type TlsMaterial,
  type UpgradeHandler,
} from './listen.ts'
export { ListenError, type ListenErrorCode } from './listen-error.ts'
