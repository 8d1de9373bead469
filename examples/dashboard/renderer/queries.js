// The dashboard's templates. Their variables are bound for each view, so no statement contains a customer's values.

/** @type {Record<'byMonth' | 'byProduct', string>} */
export const queries = {
  byMonth: `
SELECT month, product_line, SUM(orders) AS orders, SUM(revenue_cents) AS revenue_cents
FROM sales
WHERE customer_id = {{ user_group.provided_id }}
  AND region = {{ user_group.properties.region }}
  AND product_line IN ({{ user_group.properties.product_lines }})
GROUP BY month, product_line
ORDER BY month, product_line`.trim(),

  byProduct: `
SELECT product, product_line, SUM(orders) AS orders, SUM(revenue_cents) AS revenue_cents
FROM sales
WHERE customer_id = {{ user_group.provided_id }}
  AND region = {{ user_group.properties.region }}
  AND product_line IN ({{ user_group.properties.product_lines }})
GROUP BY product, product_line
ORDER BY revenue_cents DESC`.trim(),
}

export const texts = {
  title: 'Sales of {{ user_group.name }}',
  scope: 'Region {{ user_group.properties.region }} · {{ user_group.properties.plan }} plan',
}
