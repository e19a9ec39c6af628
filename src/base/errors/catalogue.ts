/**
 * Every error code: what happened and what to do about it. Codes are for programs, and do not change; texts are for
 * people. The types of the errors draw their codes from here, and `docs/reference/errors.md` is generated from it.
 */
interface ErrorEntry {
  meaning: string
  advice: string
}

export const ERROR_CATALOGUE = {
  E_BACKUP_DAMAGED: {
    meaning: 'The file is not a whole backup of Sluice.',
    advice: 'restore from another backup; nothing was made from this one',
  },
  E_KUBECONFIG_INVALID: {
    meaning: 'The kubeconfig, or a file or plug-in that it names, cannot be used.',
    advice: 'mend what the message names, or choose another file or context',
  },
  E_LISTEN_DENIED: {
    meaning: 'The system does not let this user listen there.',
    advice: 'this user may not listen there; ports below 1024 usually need an administrator',
  },
  E_LISTEN_FAILED: {
    meaning: 'The system refused to listen, for a reason that the message quotes.',
    advice: 'the system refused',
  },
  E_LISTEN_IN_USE: {
    meaning: 'The port is taken.',
    advice: 'another program listens there; stop it, choose another port, or use port 0 to have a free one picked',
  },
  E_LISTEN_NO_ADDRESS: {
    meaning: 'The address does not belong to this machine.',
    advice: 'this machine has no such address',
  },
  E_PKI_UNUSABLE: {
    meaning: 'Keys or certificates of the data directory are missing, unreadable or do not belong together.',
    advice: 'put the named file back from a backup; making a new authority would lock out everybody who trusts the old one',
  },
  E_STORE_ACCESS: {
    meaning: 'The data directory cannot be read and written by this user.',
    advice: 'start as the user who owns the files, or choose another --data-dir',
  },
  E_STORE_DAMAGED: {
    meaning: 'A file of the store is damaged in a place that a crash cannot explain.',
    advice: 'run `sluice repair`, which keeps everything readable, or restore a backup',
  },
  E_STORE_FORMAT: {
    meaning: 'The data directory was written by another version, or is none.',
    advice: 'use the version that wrote it, or choose another --data-dir',
  },
  E_STORE_FULL: {
    meaning: 'There is no room on the disk to open the store.',
    advice: 'make room, then start again',
  },
  E_STORE_LOCKED: {
    meaning: 'Another process has the data directory open.',
    advice: 'stop it (`sluice down`), or choose another --data-dir',
  },
  E_STORE_NOT_EMPTY: {
    meaning: 'A restore would write over what is there.',
    advice: 'restore into a new directory',
  },
  E_STORE_UNAVAILABLE: {
    meaning: 'The disk refused a write while running: it is full or read-only. Nothing was acknowledged; clients see 503.',
    advice: 'make room; writes work again by themselves',
  },
  E_TRANSPORT_FAILED: {
    meaning: 'The connection failed before an answer came: whether the server acted is not known.',
    advice: 'read before writing again; reads are repeated by themselves',
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>

export type ErrorCode = keyof typeof ERROR_CATALOGUE
