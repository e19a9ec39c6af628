export { openKeyDirectory } from './key-directory.ts'
export {
  DEFAULT_LISTENER_LIMITS,
  type Listener,
  type ListenerLimits,
  type ListenOptions,
  listen,
} from './listen.ts'
export { ListenError } from './listen-error.ts'
