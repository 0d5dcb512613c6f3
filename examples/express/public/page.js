import { createUploader, srcset } from '/sluice/index.js'

const find = (selector) => document.querySelector(selector)
const status = find('[role=status]')

const uploader = createUploader({
  async link() {
    const response = await fetch('/upload-link', { method: 'POST' })
    const link = await response.json()
    if (!response.ok) throw new Error(link.detail)
    return link
  },
})

/** Uploads one file after another. A failure is a text in the page. */
async function upload(files) {
  for (const file of files) {
    try {
      const onProgress = ({ sentBytes, totalBytes }) => {
        status.textContent = `${file.name}: ${Math.round((100 * sentBytes) / totalBytes)} %`
      }
      find('.photos').prepend(photo(await uploader.upload(file, { onProgress })))
      status.textContent = `${file.name} is uploaded.`
    } catch (error) {
      status.textContent = `${file.name}: ${error.message}`
    }
  }
}

/** An item of the list: a square crop, in the width that the browser needs. */
function photo({ src, originalName }) {
  const img = Object.assign(new Image(), { alt: originalName, width: 320, height: 320, loading: 'lazy' })
  img.sizes = '(max-width: 24rem) 50vw, 12rem'
  img.srcset = srcset(src, [160, 320, 640], { ar: '1:1' })
  const item = document.createElement('li')
  item.append(img)
  return item
}

find('input').addEventListener('change', ({ target }) => void upload([...target.files]))

const drop = find('.drop')
for (const type of ['dragenter', 'dragover', 'dragleave', 'drop'])
  drop.addEventListener(type, (event) => {
    event.preventDefault()
    drop.classList.toggle('over', type === 'dragenter' || type === 'dragover')
    if (type === 'drop') void upload([...event.dataTransfer.files])
  })

new EventSource('/events').addEventListener('message', ({ data }) => {
  const { type, key } = JSON.parse(data)
  const item = document.createElement('li')
  item.textContent = `${type} ${key}`
  find('.events').prepend(item)
})

const stored = await (await fetch('/photos')).json()
if (Array.isArray(stored)) find('.photos').append(...stored.map(photo))
else status.textContent = stored.detail
