const TYPES = { image: 'images', video: 'video', audio: 'audio', text: 'text', application: 'documents' }

/** Texts of the page Health. */
export const HEALTH = {
  title: 'Health',
  description: 'Checks, versions, plugins and the limits in force.',
  states: {
    ok: { title: 'Everything works', text: 'All checks have passed.' },
    missing: {
      title: 'Something is missing',
      text: 'Stored files are delivered. The checks below show what the server lacks.',
    },
    degraded: {
      title: 'Some requests fail',
      text: 'Stored files are delivered. The checks below show what does not work.',
    },
    unavailable: {
      title: 'The service is unavailable',
      text: 'A part that every request needs cannot be reached. The checks below show which one.',
    },
    stopping: {
      title: 'The process is stopping',
      text: 'Running requests are completed, and new ones go to other processes.',
    },
  },
  comparing: ({ files, total }: { files: number; total?: number | undefined }) =>
    `The index is compared with the bucket: ${files.toLocaleString('en')}${total === undefined ? '' : ` of about ${total.toLocaleString('en')}`} files so far. Lists may be incomplete.`,
  checkedAt: (time: string) => `Checked at ${time}`,
  unreachable: 'The service did not respond to the latest check',
  checkAgain: 'Check again',
  checks: 'Checks',
  checkNames: { bucket: 'Files', index: 'Index', ffmpeg: 'ffmpeg', disk: 'Disk', fonts: 'Fonts' },
  checkPurposes: {
    bucket: 'Where originals and derivatives are stored',
    index: 'Lists of files, jobs and counters',
    ffmpeg: 'Renders video and audio',
    disk: 'Temporary files, and files that are stored on disk',
    fonts: 'Draw texts in pictures and previews of documents',
  },
  outcomes: {
    ok: 'Works',
    unavailable: 'Unavailable',
    missing: 'Missing',
    full: 'Full',
    read_only: 'Read-only',
  },
  /** What to do when a check has failed. */
  remedies: {
    'bucket unavailable': 'Check that the bucket exists, and that its credentials are valid.',
    'index unavailable': 'Check that the index can be reached: Redis, or the folder in DATA_DIR.',
    'ffmpeg missing':
      'Install ffmpeg on the server. Without it, video and audio files are stored and delivered, but not transformed.',
    'fonts missing':
      'Install fonts-noto-core and fonts-noto-cjk on the server, and start it again. Characters of some scripts are drawn as boxes: sluice doctor names them.',
    'disk full': 'Delete files that are not needed, or use a larger disk. Uploads are refused until then.',
    'disk read_only': 'Mount DATA_DIR with write access.',
    'disk unavailable': 'Check that DATA_DIR exists, and that its disk responds.',
  } as Readonly<Record<string, string>>,
  about: 'This installation',
  version: 'Sluice',
  nodeVersion: 'Node.js',
  uptime: 'Uptime',
  startedAt: (time: string) => `Since ${time}`,
  files: 'Files',
  state: 'Index, jobs, counters',
  storages: { disk: 'Disk', s3: 'S3', embedded: 'Embedded', redis: 'Redis' },
  /** In the two largest units, without a unit of which there are none: `3 d 4 h`, `1 min 15 s`. */
  duration: (seconds: number) => {
    const parts = [
      [Math.floor(seconds / 86_400), 'd'],
      [Math.floor((seconds % 86_400) / 3600), 'h'],
      [Math.floor((seconds % 3600) / 60), 'min'],
      [Math.floor(seconds % 60), 's'],
    ] as const
    const first = parts.findIndex(([count]) => count > 0)
    if (first === -1) return '0 s'
    const shown = parts.slice(first, first + 2).filter(([count]) => count > 0)
    return shown.map(([count, unit]) => `${count} ${unit}`).join(' ')
  },
  plugins: 'Plugins',
  pluginCount: (count: number) => (count === 1 ? '1 is loaded' : `${count} are loaded`),
  transformationsOf: (type: keyof typeof TYPES) => `Transformations of ${TYPES[type]}`,
  kinds: { transform: 'Transformations', event: 'Events', detector: 'Detectors', scanner: 'Malware scans' },
  settings: 'Limits and settings',
  settingsText: 'The values in force. Secrets are not shown. Set environment variables to change them.',
  shown: 'Shown settings',
  limits: 'Limits',
  allSettings: 'All',
  search: 'Search settings',
  name: 'Variable',
  value: 'Value',
  effect: 'Effect',
  noMatch: (text: string) => `No setting matches "${text}".`,
  empty: 'empty',
}
