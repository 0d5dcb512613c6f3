import Image from 'next/image'
import { connection } from 'next/server'
import { Suspense } from 'react'
import { sluice } from '../sluice'
import { Upload } from './upload'

export default function Page() {
  return (
    <main>
      <Upload />
      <Suspense>
        <Photos />
      </Suspense>
    </main>
  )
}

async function Photos() {
  // Rendered for each request, not at the build.
  await connection()
  const { files } = await sluice.files.page({ prefix: 'photos', type: 'image', limit: 12 })
  return files.map(({ src, originalName }) => (
    <Image key={src} src={`${src}?ar=3:2`} alt={originalName} width={600} height={400} sizes="300px" />
  ))
}
