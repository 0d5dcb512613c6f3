import { type OwnPackage, tarballOf, textOf } from '../own-package.ts'
import { type Choices, kindOf } from './platforms.ts'
import { missingIn, type Settings } from './settings.ts'

const FOLDER = 'deploy/init'
const STORE =
  '\nA store that is compatible with S3 also needs `AWS_ENDPOINT_URL_S3`, and in most cases `S3_FORCE_PATH_STYLE=true`.'

/** The README of a folder: the template of the platform, with the values of this installation. */
export function readmeText(
  { platform, storage, domain }: Choices,
  { own, app, settings }: { own: OwnPackage; app: string; settings: Settings },
): string {
  const read = (name: string) => textOf(own, `${FOLDER}/${name}.md`).trimEnd()
  const missing = missingIn(settings)
  const store = missing.includes('AWS_ACCESS_KEY_ID') ? STORE : ''
  const values: Record<string, string> = {
    about: kindOf(platform).about,
    app,
    version: own.version,
    url:
      settings.BASE_URL ??
      `https://${domain ?? (platform === 'heroku' ? '<app>.herokuapp.com' : 'files.example.com')}`,
    service: storage === 's3' ? 'web' : 'sluice',
    // What an installation in another folder needs.
    package: own.isPublished ? 'package.json' : `package.json ${tarballOf(own)}`,
    'new package': own.isPublished ? 'package.json' : 'package.json sluice-<version>.tgz',
    'fill in':
      missing.length === 0
        ? ''
        : `\nFirst replace each \`FILL_IN\` in \`.env\`: ${missing.map((name) => `\`${name}\``).join(', ')}.${store}\n`,
    'new version': read(own.isPublished ? 'new-version' : 'new-tarball'),
    upload: read('upload'),
  }
  const filled = (text: string): string =>
    text.replace(/\{\{([a-z ]+)\}\}/g, (_, name: string) => {
      const value = values[name]
      if (value === undefined) throw new Error(`The template of ${platform} has the unknown value "${name}".`)
      return filled(value)
    })
  return `${filled(read(platform)).replace(/\n{3,}/g, '\n\n')}\n`
}

/** The blocks of commands in a section of a README, without the line at their end. */
export function commandsUnder(title: string, readme: string): string[] {
  const [, rest = ''] = `\n${readme}`.split(`\n## ${title}\n`)
  const [section = ''] = rest.split(/^## /m)
  return [...section.matchAll(/^```sh\n(.*?)\n```$/gms)].map(([, code = '']) => code)
}
