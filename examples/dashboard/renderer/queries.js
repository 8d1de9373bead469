// The dashboard's templates. Their variables are bound for each view, so no statement contains a customer's values.

/** Filters of the dashboard. The clause of an absent one is dropped; the conditions of the user group always apply. */
export const filters = ['filter.from', 'filter.to', 'filter.product']

const conditions = `
WHERE customer_id = {{ user_group.provided_id }}
  AND region IN ({{ user_group.properties.regions }})
  AND product_line IN ({{ user_group.properties.product_lines }})
  [[ AND day >= {{ date filter.from }} ]]
  [[ AND day <= {{ date filter.to }} ]]
  [[ AND product = {{ filter.product }} ]]`.trim()

/**
 * The SQL templates, which `ugs-isolation probe` judges.
 * @type {Record<'byMonth' | 'byProduct', string>}
 */
export const templates = {
  byMonth: `
SELECT substr(day, 1, 7) AS month, product_line, SUM(orders) AS orders, SUM(revenue_cents) AS revenue_cents
FROM sales
${conditions}
GROUP BY month, product_line
ORDER BY month, product_line`.trim(),

  byProduct: `
SELECT product, product_line, SUM(orders) AS orders, SUM(revenue_cents) AS revenue_cents
FROM sales
${conditions}
GROUP BY product, product_line
ORDER BY revenue_cents DESC`.trim(),
}

export const texts = {
  title: 'Sales of {{ user_group.name }}',
  scope:
    '{{ viewer.name }} · Regions: {{ user_group.properties.regions }} · {{ user_group.properties.plan }} plan',
}
