import type { Tool } from '../support/tool.ts'

export const haproxy: Tool = {
  name: 'HAProxy',
  hint: 'apt-get install haproxy',
  commands: ['haproxy', '/usr/sbin/haproxy'],
  probe: ['-v'],
}

export const nginx: Tool = {
  name: 'nginx',
  hint: 'apt-get install nginx',
  commands: ['nginx', '/usr/sbin/nginx'],
  probe: ['-v'],
}
