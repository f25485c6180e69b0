import type { ServerResponse } from 'node:http'

/** Pages of any site send their events here, so any origin may read the responses. */
const everywhere = ['Access-Control-Allow-Origin', '*', 'X-Content-Type-Options', 'nosniff']
const json = [...everywhere, 'Content-Type', 'application/json; charset=utf-8', 'Content-Length']

/** `more`: header names and values in turn. All headers are written in one call: setting them one by one costs twice as much. */
export function sendJson(response: ServerResponse, status: number, body: string, more: readonly string[] = []): void {
  response.writeHead(status, [...json, `${Buffer.byteLength(body)}`, ...more]).end(body)
}

export function sendText(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, [...everywhere, 'Content-Type', 'text/plain; charset=utf-8']).end(body)
}

export function sendEmpty(response: ServerResponse, status: number, more: readonly string[] = []): void {
  response.writeHead(status, [...everywhere, ...more]).end()
}
