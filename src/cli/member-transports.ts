/** How the hub of `up` reaches its own members: in process, or like any other. */
export const MEMBER_TRANSPORTS = ['in-process', 'http'] as const
export type MemberTransport = (typeof MEMBER_TRANSPORTS)[number]
