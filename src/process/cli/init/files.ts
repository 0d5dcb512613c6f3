import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type OwnPackage, tarballOf, textOf } from '../own-package.ts'
import { buildOf, releasesOf } from '../upgrade/changelog.ts'
import { type Choices, kindOf } from './platforms.ts'
import { readmeText } from './readme.ts'
import { dotenvText, type Settings, settingsOf } from './settings.ts'

/** The files of a folder, by their paths in it, without the package itself. */
export interface Written {
  files: ReadonlyMap<string, string>
  settings: Settings
}

const CHART = 'deploy/kubernetes/chart'
const NOTE = '# Written by sluice init. README.md has the commands.\n'
const MODULE = 'node_modules/sluice'
const GITIGNORE = '.env\ndata/\nbackup/\nnode_modules/\n'
// The secrets and the data are no part of an image.
const DOCKERIGNORE = '*\n!package.json\n!package-lock.json\n!*.tgz\n'

/** The files for these choices. Those of the platform have the texts that the package has for it. */
export function filesOf(choices: Choices, { own, app }: { own: OwnPackage; app: string }): Written {
  const { platform, domain } = choices
  const read = (path: string) => textOf(own, path)
  const example = read('.env.example')
  const templates = { example, heroku: read('app.json'), render: read('deploy/render/render.yaml') }
  const settings = settingsOf(choices, { app, templates })
  const files = new Map<string, string>([
    ['package.json', packageJson(choices, { own, app })],
    ['.env', dotenvText(settings, { platform, example })],
    ['.gitignore', GITIGNORE],
    ['README.md', readmeText(choices, { own, app, settings })],
  ])
  if (kindOf(platform).hasImage)
    files.set('Dockerfile', dockerfile(read('Dockerfile'), own)).set('.dockerignore', DOCKERIGNORE)
  switch (platform) {
    case 'compose':
      files.set(
        'compose.yaml',
        composeFile(read(choices.storage === 's3' ? 'compose.yaml' : 'compose.small.yaml'), { app, domain }),
      )
      break
    case 'systemd':
      files.set(
        'sluice.service',
        noted(read('deploy/systemd/sluice.service')).replaceAll('/opt/sluice', `/opt/sluice/${MODULE}`),
      )
      break
    case 'heroku':
      files
        .set('Procfile', read('Procfile').replace(/ (scripts|dist)\//g, ` ${MODULE}/$1/`))
        .set('Aptfile', noted(read('Aptfile')))
        .set('app.json', templates.heroku)
      break
    case 'fly':
      files.set('fly.toml', noted(read('deploy/fly/fly.toml')).replace(/^app = .*$/m, `app = '${app}'`))
      break
    case 'render':
      files.set('render.yaml', noted(templates.render))
      break
    case 'kubernetes':
      for (const path of filesBelow(join(own.root, CHART)))
        files.set(`chart/${path}`, read(`${CHART}/${path}`))
      files.set('values.yaml', valuesFile(read('deploy/kubernetes/values.example.yaml'), domain))
  }
  return { files, settings }
}

/** A name for apps, projects and images: of `a-z`, `0-9` and `-`, from the name of the folder. */
export function appName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 30)
    .replace(/-+$/, '')
  return name === '' ? 'sluice' : name
}

function packageJson({ platform }: Choices, { own, app }: { own: OwnPackage; app: string }): string {
  const run = 'set -a && . ./.env && exec sluice'
  const value = {
    name: app,
    private: true,
    engines: own.engines,
    ...(platform === 'node' ? { scripts: { start: `${run} start`, sluice: run } } : {}),
    dependencies: { sluice: own.isPublished ? own.version : `file:${tarballOf(own)}` },
    overrides: own.overrides,
    // For `sluice upgrade`.
    sluice: { platform, build: buildOf(own.version, releasesOf(textOf(own, 'CHANGELOG.md'))) },
  }
  return `${JSON.stringify(value, undefined, 2)}\n`
}

/** The image of the project, with the installed package instead of a build. */
function dockerfile(text: string, { isPublished }: OwnPackage): string {
  const [build = '', last] = text.split(/^(?=FROM )/m).slice(-2)
  const [from] = build.split('\n', 1)
  // From the comment of the last instruction on: what an image leaves out of the packages.
  const leftOut = /(?:^#.*\n)*^RUN find [\s\S]+/m.exec(build)?.[0] ?? ''
  return `${NOTE}
${from}
WORKDIR /app
COPY package*.json ${isPublished ? '' : '*.tgz '}./
# The package, with its dependencies next to it.
RUN npm install --omit=dev --no-audit --no-fund \\
  && cp -R ${MODULE}/. . \\
  && rm -rf ${MODULE}
${leftOut}${last}`
}

function composeFile(text: string, { app, domain }: { app: string; domain: string | undefined }): string {
  // Docker publishes ports past the firewall of the machine. Behind a proxy, a direct caller could forge X-Forwarded-For.
  const host = domain === undefined ? '' : '127.0.0.1:'
  // In quotes: a name such as 2026 or null is no string in YAML otherwise.
  return noted(text)
    .replace(/^name: .*$/m, `name: '${app}'`)
    .replace(/^( *)image: sluice$/m, `$1image: '${app}'`)
    .replace(/(?<=^ *- ')(?=3000(?:-\d+)?:3000'$)/m, host)
    .replace(/^( *)init: true$/m, '$1init: true\n$1env_file: .env')
    .replaceAll(/, see docs\/\S+?\.md/g, '')
}

function valuesFile(text: string, domain: string | undefined): string {
  const own = noted(text)
  return domain === undefined ? own : own.replace(/^baseUrl: .*$/m, `baseUrl: https://${domain}`)
}

/** The text with another comment at its beginning: that of the project names commands for a clone. */
function noted(text: string): string {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => !line.startsWith('#') || line.includes('yaml-language-server'))
  return NOTE + lines.slice(first).join('\n')
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .sort()
}
