export function scaleFiles(json: string): Record<string, string> {
  void json
  return {}
}
