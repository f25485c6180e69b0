import type { FastifyInstance } from 'fastify'
import { assets, widget } from './assets.ts'

export function serveAssets(app: FastifyInstance): void {
  for (const { path, type, body } of assets) {
    app.get(path, async (_request, reply) =>
      reply
        .headers({
          'Content-Type': type,
          'Cache-Control': 'public, max-age=31536000, immutable',
          Vary: 'Accept-Encoding',
        })
        .send(body),
    )
  }
  app.get(widget.path, async (_request, reply) =>
    reply
      .headers({ 'Content-Type': widget.type, 'Cache-Control': 'public, max-age=3600', Vary: 'Accept-Encoding' })
      .send(widget.body),
  )
}
