import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { readDocumentedMetrics, readRepositoryFile } from './documented-metrics.js';
import { PromqlChecker } from './promql.js';

interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: Record<string, string>;
}

interface Panel {
  type: string;
  title: string;
  targets?: { expr: string; legendFormat: string }[];
}

const folder = fileURLToPath(new URL('../../../../deploy/prometheus/', import.meta.url));
const rules = parse(readRepositoryFile('deploy/prometheus/alerts.yml')) as {
  groups: { rules: Alert[] }[];
}; // Safe cast: promtool checks the form.
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readRepositoryFile('deploy/grafana/stream-event-service.json')) as {
  panels: Panel[];
}; // Safe cast: the tests below read only what each panel has.
const checker = new PromqlChecker(readDocumentedMetrics());

/** Replaces Grafana's variables, as Grafana does before it queries Prometheus. */
const withoutVariables = (expression: string): string => expression.replaceAll('$__rate_interval', '5m');

function runPromtool(...args: string[]) {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { cwd: folder, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}`, isMissing: error !== undefined };
}

describe(PromqlChecker.name, () => {
  it.each([
    ['sum(rate(http_requests_total[5m])', /syntax error/],
    ['sum(rate(http_requests_totals[5m]))', /unknown metric in http_requests_totals/],
    ['rate(http_request_duration_seconds[5m])', /unknown metric/],
    ['http_requests_total{code="500"}', /has no label code/],
    ['http_request_duration_seconds_count{le="1"}', /has no label le/],
    ['sum by (path) (http_requests_total)', /no metric of the expression has the label path/],
    ['{status="500"}', /unknown metric/],
  ])('finds the fault in %s', (expression, fault) => {
    expect(checker.findFaults(expression)).toEqual([expect.stringMatching(fault)]);
  });
});

describe('the alert rules', () => {
  it('use only metrics and labels that the services export', () => {
    expect(alerts.length).toBeGreaterThan(20);
    expect(
      alerts.flatMap(({ alert, expr }) => checker.findFaults(expr).map((fault) => [alert, fault])),
    ).toEqual([]);
  });

  it('have an entry in docs/alerts.md each, which says what to check and what to do, and no entry lacks its alert', () => {
    const [, section = ''] = /\n## Alerts\n([^]*?)(?=\n## )/.exec(readRepositoryFile('docs/alerts.md')) ?? [];
    const entries = section.split('\n### ').slice(1);

    expect(entries.map((entry) => entry.split('\n', 1)[0]).sort()).toEqual(
      alerts.map(({ alert }) => alert).sort(),
    );
    for (const entry of entries)
      expect(entry).toMatch(/\n- \*\*Meaning:\*\* [^]+\n- \*\*Check:\*\* [^]+\n- \*\*Do:\*\* /);
  });

  it.each(alerts)(
    'name their entry, their severity, and what happened: $alert',
    ({ alert, labels, annotations }) => {
      expect(annotations.runbook).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
      expect(['critical', 'warning', 'info']).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\w+ \w+/);
    },
  );

  it('have a test case each', () => {
    const { tests } = parse(readRepositoryFile('deploy/prometheus/alerts.test.yml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
    }; // Safe cast: promtool checks the form.
    const cases = tests.flatMap((test) => test.alert_rule_test);

    for (const wanted of [true, false]) {
      const tested = cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === wanted);
      expect([...new Set(tested.map(({ alertname }) => alertname))].sort()).toEqual(
        alerts.map(({ alert }) => alert).sort(),
      );
    }
  });

  const { isMissing } = runPromtool('--version');
  const itWithPromtool = isMissing ? it.skip : it;
  const reason = isMissing ? ' (skipped: promtool, of the package prometheus, is not installed)' : '';

  itWithPromtool(`are valid, and fire when they should${reason}`, () => {
    for (const args of [
      ['check', 'rules', 'alerts.yml'],
      ['test', 'rules', 'alerts.test.yml'],
      ['check', 'config', '--syntax-only', 'prometheus.yml'],
      ['check', 'config', '--syntax-only', 'prometheus-compose.yml'],
    ])
      expect(runPromtool(...args)).toMatchObject({
        status: 0,
        output: expect.stringContaining('SUCCESS') as string,
      });
  });
});

describe('the dashboard', () => {
  const panels = dashboard.panels.filter(({ type }) => type !== 'row');

  it('uses only metrics and labels that the services export', () => {
    expect(panels.length).toBeGreaterThan(20);
    for (const { title, targets = [] } of panels) {
      expect([title, targets.length]).not.toEqual([title, 0]);
      for (const { expr } of targets)
        expect([title, checker.findFaults(withoutVariables(expr))]).toEqual([title, []]);
    }
  });

  it('names only labels in its legends that the series have', () => {
    for (const { title, targets = [] } of panels)
      for (const { expr, legendFormat } of targets) {
        const grouping = checker.groupingOf(withoutVariables(expr));
        for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          if (grouping) expect([title, grouping]).toEqual([title, expect.arrayContaining([label])]);
      }
  });

  it.each([
    'http_requests_total',
    'http_request_duration_seconds',
    'nats_handled_requests_total',
    'nats_handled_request_duration_seconds',
    'ingest_events_total',
    'events_ingest_batch_events',
    'events_store_lag_seconds',
    'events_publish_lag_seconds',
    'live_connections',
    'live_connections_closed_total',
    'live_slowest_connection_lag_events',
    'platform_connector_budget_calls',
    'platform_subscriptions',
    'streamer_monitor_streams_running',
    'nodejs_eventloop_lag_p99_seconds',
  ])('shows %s', (name) => {
    expect(JSON.stringify(panels)).toContain(name);
  });
});
