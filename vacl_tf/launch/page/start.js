// Copyright 2026 The vacl_tf Authors.
// SPDX-License-Identifier: Apache-2.0
// Starts the parts of the page that it has.

const data = JSON.parse(document.getElementById('data').textContent);
startCharts(data);
startCurriculum(data);
startFailures(data);
